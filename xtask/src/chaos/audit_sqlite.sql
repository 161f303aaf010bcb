-- Puts an audit trail beside the tables: every change, with the time and in the transaction that made it.
-- Keeps: nothing; it only looks, and the product knows nothing of it.
-- Clock: the machine's, at the very change.

CREATE TABLE audit_trail (
    seq   INTEGER PRIMARY KEY,
    at_us INTEGER NOT NULL,
    tbl   TEXT    NOT NULL,
    old   TEXT,
    new   TEXT
) STRICT;

CREATE TRIGGER audit_runs_insert AFTER INSERT ON lease_runs BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'runs',
        NULL,
        json_object('id', new.id, 'key', new.key, 'status', new.status, 'phase', new.phase, 'phase_fence', new.phase_fence,
            'fence', new.fence, 'owner', new.owner, 'lease_expires_us', new.lease_expires_us, 'lease_ended', new.lease_ended,
            'losses', new.losses, 'paused', new.paused, 'phases', json(new.phases)));
END;

CREATE TRIGGER audit_runs_update AFTER UPDATE ON lease_runs BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'runs',
        json_object('id', old.id, 'key', old.key, 'status', old.status, 'phase', old.phase, 'phase_fence', old.phase_fence,
            'fence', old.fence, 'owner', old.owner, 'lease_expires_us', old.lease_expires_us, 'lease_ended', old.lease_ended,
            'losses', old.losses, 'paused', old.paused, 'phases', json(old.phases)),
        json_object('id', new.id, 'key', new.key, 'status', new.status, 'phase', new.phase, 'phase_fence', new.phase_fence,
            'fence', new.fence, 'owner', new.owner, 'lease_expires_us', new.lease_expires_us, 'lease_ended', new.lease_ended,
            'losses', new.losses, 'paused', new.paused, 'phases', json(new.phases)));
END;

CREATE TRIGGER audit_runs_delete AFTER DELETE ON lease_runs BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'runs',
        json_object('id', old.id, 'key', old.key, 'status', old.status, 'phase', old.phase, 'phase_fence', old.phase_fence,
            'fence', old.fence, 'owner', old.owner, 'lease_expires_us', old.lease_expires_us, 'lease_ended', old.lease_ended,
            'losses', old.losses, 'paused', old.paused, 'phases', json(old.phases)),
        NULL);
END;

CREATE TRIGGER audit_receipts_insert AFTER INSERT ON lease_receipts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'receipts',
        NULL,
        json_object('run_id', new.run_id, 'phase', new.phase, 'fence', new.fence, 'saved_us', new.saved_us));
END;

CREATE TRIGGER audit_receipts_update AFTER UPDATE ON lease_receipts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'receipts',
        json_object('run_id', old.run_id, 'phase', old.phase, 'fence', old.fence, 'saved_us', old.saved_us),
        json_object('run_id', new.run_id, 'phase', new.phase, 'fence', new.fence, 'saved_us', new.saved_us));
END;

CREATE TRIGGER audit_receipts_delete AFTER DELETE ON lease_receipts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'receipts',
        json_object('run_id', old.run_id, 'phase', old.phase, 'fence', old.fence, 'saved_us', old.saved_us),
        NULL);
END;

CREATE TRIGGER audit_attempts_insert AFTER INSERT ON lease_attempts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'attempts',
        NULL,
        json_object('run_id', new.run_id, 'fence', new.fence, 'owner', new.owner, 'from_phase', new.from_phase,
            'claimed_us', new.claimed_us, 'ended_us', new.ended_us, 'outcome', new.outcome, 'reason', json(new.reason)));
END;

CREATE TRIGGER audit_attempts_update AFTER UPDATE ON lease_attempts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'attempts',
        json_object('run_id', old.run_id, 'fence', old.fence, 'owner', old.owner, 'from_phase', old.from_phase,
            'claimed_us', old.claimed_us, 'ended_us', old.ended_us, 'outcome', old.outcome, 'reason', json(old.reason)),
        json_object('run_id', new.run_id, 'fence', new.fence, 'owner', new.owner, 'from_phase', new.from_phase,
            'claimed_us', new.claimed_us, 'ended_us', new.ended_us, 'outcome', new.outcome, 'reason', json(new.reason)));
END;

CREATE TRIGGER audit_attempts_delete AFTER DELETE ON lease_attempts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'attempts',
        json_object('run_id', old.run_id, 'fence', old.fence, 'owner', old.owner, 'from_phase', old.from_phase,
            'claimed_us', old.claimed_us, 'ended_us', old.ended_us, 'outcome', old.outcome, 'reason', json(old.reason)),
        NULL);
END;

CREATE TRIGGER audit_setups_insert AFTER INSERT ON supplier_setups BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'setups',
        NULL,
        json_object('key', new.key, 'run_id', new.run_id, 'fence', new.fence));
END;

CREATE TRIGGER audit_setups_update AFTER UPDATE ON supplier_setups BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'setups',
        json_object('key', old.key, 'run_id', old.run_id, 'fence', old.fence),
        json_object('key', new.key, 'run_id', new.run_id, 'fence', new.fence));
END;

CREATE TRIGGER audit_setups_delete AFTER DELETE ON supplier_setups BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'setups',
        json_object('key', old.key, 'run_id', old.run_id, 'fence', old.fence),
        NULL);
END;

CREATE TRIGGER audit_purchase_accounts_insert AFTER INSERT ON supplier_purchase_accounts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'purchase_accounts',
        NULL,
        json_object('key', new.key, 'run_id', new.run_id, 'fence', new.fence));
END;

CREATE TRIGGER audit_purchase_accounts_update AFTER UPDATE ON supplier_purchase_accounts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'purchase_accounts',
        json_object('key', old.key, 'run_id', old.run_id, 'fence', old.fence),
        json_object('key', new.key, 'run_id', new.run_id, 'fence', new.fence));
END;

CREATE TRIGGER audit_purchase_accounts_delete AFTER DELETE ON supplier_purchase_accounts BEGIN
    INSERT INTO audit_trail (at_us, tbl, old, new)
    VALUES (CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000, 'purchase_accounts',
        json_object('key', old.key, 'run_id', old.run_id, 'fence', old.fence),
        NULL);
END;
