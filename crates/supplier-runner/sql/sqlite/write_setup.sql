-- Writes a supplier's row in supplier_setups. A second row for the key is refused.
-- Keeps: ALL-OR-NOTHING (runs in the transaction of the save that carries it, after the fenced statement).
-- Clock: the store's, for registered_us only.
-- Takes: ?1 run, ?2 fence, ?3 key, ?4 the row as the step `register` made it
INSERT INTO supplier_setups (key, legal_name, country, tax_id, iban, bic, currency, email, lei, contact, categories, run_id,
    fence, registered_us)
SELECT ?3, ?4 ->> 'legal_name', ?4 ->> 'country', ?4 ->> 'tax_id', ?4 ->> 'iban', ?4 ->> 'bic', ?4 ->> 'currency',
    ?4 ->> 'email', ?4 ->> 'lei', ?4 ->> 'contact', ?4 -> 'categories', ?1, ?2, now_us
FROM store_clock
