-- Reads supplier_setups as a whole, one JSON object per row.
-- Keeps: nothing; it only reads.
-- Clock: none.
-- Takes: nothing
SELECT json_object('key', key, 'legal_name', legal_name, 'country', country, 'tax_id', tax_id, 'iban', iban, 'bic', bic,
    'currency', currency, 'email', email, 'lei', lei, 'contact', contact, 'categories', json(categories), 'run_id', run_id,
    'fence', fence, 'registered_us', registered_us) AS document
FROM supplier_setups
ORDER BY key
