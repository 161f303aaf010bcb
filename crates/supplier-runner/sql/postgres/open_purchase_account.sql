-- Writes a supplier's row in supplier.purchase_accounts. A second one is refused (purchase_accounts_pkey).
-- Keeps: ALL-OR-NOTHING (runs in the transaction of the save that carries it, after the fenced statement).
-- Clock: the store's, for opened_at only.
-- Takes: $1 run, $2 fence, $3 key, $4 the row as the step `open_purchasing` made it
INSERT INTO supplier.purchase_accounts
    (key, account, currency, spending_limit, payment_terms_days, run_id, fence, opened_at)
SELECT $3::text, b.account, b.currency, b.spending_limit, b.payment_terms_days, $1::uuid, $2::bigint, clock_timestamp()
FROM jsonb_to_record($4::jsonb) AS b(account text, currency text, spending_limit numeric, payment_terms_days int)
