-- Reads supplier.setups as a whole, one JSON object per row, in the form in which rows are taken in.
-- Keeps: nothing; it only reads.
-- Clock: none.
-- Takes: nothing
SELECT jsonb_build_object('key', t.key, 'legal_name', t.legal_name, 'country', t.country, 'tax_id', t.tax_id, 'iban', t.iban,
    'bic', t.bic, 'currency', t.currency, 'email', t.email, 'lei', t.lei, 'contact', t.contact, 'categories', t.categories,
    'run_id', t.run_id, 'fence', t.fence,
    'registered_us', (extract(epoch FROM t.registered_at) * 1000000)::bigint)::text AS document
FROM supplier.setups t
ORDER BY t.key
