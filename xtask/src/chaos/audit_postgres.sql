-- Puts an audit trail beside the tables: every change, with the time and in the transaction that made it.
-- Keeps: nothing; it only looks, and the product knows nothing of it.
-- Clock: the server's, at the very change.

CREATE SCHEMA audit;

CREATE TABLE audit.trail (
    seq   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_us bigint NOT NULL,
    xid   text,
    tbl   text   NOT NULL,
    old   jsonb,
    new   jsonb
);

CREATE FUNCTION audit.us(at timestamptz) RETURNS bigint IMMUTABLE LANGUAGE sql
    RETURN (extract(epoch FROM at) * 1000000)::bigint;

-- A row as JSON, with its instants in microseconds and without what is long and never changes.
CREATE FUNCTION audit.shown(line jsonb) RETURNS jsonb IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    IF line IS NULL THEN
        RETURN NULL;
    END IF;
    line := line - '{input, body, input_digest, plan_digest}'::text[];
    FOREACH name IN ARRAY '{lease_expires, due, saved, claimed, ended}'::text[] LOOP
        IF line ? (name || '_at') THEN
            line := line - (name || '_at')
                || jsonb_build_object(name || '_us', audit.us((line ->> (name || '_at'))::timestamptz));
        END IF;
    END LOOP;
    RETURN line;
END
$$;

CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit.trail (at_us, xid, tbl, old, new)
    VALUES (audit.us(clock_timestamp()), txid_current()::text, TG_TABLE_NAME,
        CASE WHEN TG_OP <> 'INSERT' THEN audit.shown(to_jsonb(OLD)) END,
        CASE WHEN TG_OP <> 'DELETE' THEN audit.shown(to_jsonb(NEW)) END);
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER audit BEFORE INSERT OR UPDATE OR DELETE ON lease.runs FOR EACH ROW EXECUTE FUNCTION audit.note();
CREATE TRIGGER audit BEFORE INSERT OR UPDATE OR DELETE ON lease.receipts FOR EACH ROW EXECUTE FUNCTION audit.note();
CREATE TRIGGER audit BEFORE INSERT OR UPDATE OR DELETE ON lease.attempts FOR EACH ROW EXECUTE FUNCTION audit.note();
CREATE TRIGGER audit BEFORE INSERT OR UPDATE OR DELETE ON supplier.setups FOR EACH ROW EXECUTE FUNCTION audit.note();
CREATE TRIGGER audit BEFORE INSERT OR UPDATE OR DELETE ON supplier.purchase_accounts
    FOR EACH ROW EXECUTE FUNCTION audit.note();
