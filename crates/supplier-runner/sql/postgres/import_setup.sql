-- Takes in a row of supplier.setups from another store. A second row for the key is refused (setups_pkey).
-- Keeps: ALL-OR-NOTHING (runs in the transaction of the import).
-- Clock: none; the row's own instant counts.
-- Takes: $1 the row
INSERT INTO supplier.setups
    (key, legal_name, country, tax_id, iban, bic, currency, email, lei, contact, categories, run_id, fence, registered_at)
SELECT r.key, r.legal_name, r.country, r.tax_id, r.iban, r.bic, r.currency, r.email, r.lei, r.contact, r.categories, r.run_id,
       r.fence, timestamptz 'epoch' + r.registered_us * interval '1 microsecond'
FROM jsonb_to_record($1::jsonb) AS r(
    key text, legal_name text, country text, tax_id text, iban text, bic text, currency text, email text, lei text,
    contact text, categories text[], run_id uuid, fence bigint, registered_us bigint)
