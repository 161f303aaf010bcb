-- Writes a supplier's row in supplier_purchase_accounts. A second one is refused.
-- Keeps: ALL-OR-NOTHING (runs in the transaction of the save that carries it, after the fenced statement).
-- Clock: the store's, for opened_us only.
-- Takes: ?1 run, ?2 fence, ?3 key, ?4 the row as the step `open_purchasing` made it
INSERT INTO supplier_purchase_accounts (key, account, currency, spending_limit, payment_terms_days, run_id, fence, opened_us)
SELECT ?3, ?4 ->> 'account', ?4 ->> 'currency', ?4 ->> 'spending_limit', ?4 ->> 'payment_terms_days', ?1, ?2, now_us
FROM store_clock
