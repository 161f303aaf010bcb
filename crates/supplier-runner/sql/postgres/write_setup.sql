-- Writes a supplier's row in supplier.setups. A second row for the key is refused (setups_pkey).
-- Keeps: ALL-OR-NOTHING (runs in the transaction of the save that carries it, after the fenced statement).
-- Clock: the store's, for registered_at only.
-- Takes: $1 run, $2 fence, $3 key, $4 the row as the step `register` made it
INSERT INTO supplier.setups
    (key, legal_name, country, tax_id, iban, bic, currency, email, lei, contact, categories, run_id, fence, registered_at)
SELECT $3::text, b.legal_name, b.country, b.tax_id, b.iban, b.bic, b.currency, b.email, b.lei, b.contact, b.categories,
       $1::uuid, $2::bigint, clock_timestamp()
FROM jsonb_to_record($4::jsonb) AS b(
    legal_name text, country text, tax_id text, iban text, bic text, currency text, email text, lei text, contact text,
    categories text[])
