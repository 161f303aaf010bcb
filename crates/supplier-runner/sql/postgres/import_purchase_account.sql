-- Takes in a row of supplier.purchase_accounts from another store. A second one is refused (purchase_accounts_pkey).
-- Keeps: ALL-OR-NOTHING (runs in the transaction of the import).
-- Clock: none; the row's own instant counts.
-- Takes: $1 the row
INSERT INTO supplier.purchase_accounts
    (key, account, currency, spending_limit, payment_terms_days, run_id, fence, opened_at)
SELECT r.key, r.account, r.currency, r.spending_limit, r.payment_terms_days, r.run_id, r.fence,
       timestamptz 'epoch' + r.opened_us * interval '1 microsecond'
FROM jsonb_to_record($1::jsonb) AS r(
    key text, account text, currency text, spending_limit numeric, payment_terms_days int, run_id uuid, fence bigint,
    opened_us bigint)
