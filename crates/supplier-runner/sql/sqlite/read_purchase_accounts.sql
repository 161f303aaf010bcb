-- Reads supplier_purchase_accounts as a whole, one JSON object per row.
-- Keeps: nothing; it only reads.
-- Clock: none.
-- Takes: nothing
SELECT json_object('key', key, 'account', account, 'currency', currency, 'spending_limit', spending_limit,
    'payment_terms_days', payment_terms_days, 'run_id', run_id, 'fence', fence, 'opened_us', opened_us) AS document
FROM supplier_purchase_accounts
ORDER BY key
