-- Reads supplier.purchase_accounts as a whole, one JSON object per row, in the form in which rows are taken in.
-- Keeps: nothing; it only reads.
-- Clock: none.
-- Takes: nothing
SELECT jsonb_build_object('key', t.key, 'account', t.account, 'currency', t.currency,
    'spending_limit', t.spending_limit::text, 'payment_terms_days', t.payment_terms_days, 'run_id', t.run_id,
    'fence', t.fence, 'opened_us', (extract(epoch FROM t.opened_at) * 1000000)::bigint)::text AS document
FROM supplier.purchase_accounts t
ORDER BY t.key
