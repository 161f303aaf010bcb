-- Reads supplier.purchase_accounts as a whole, one JSON object per row.
-- Keeps: nothing; it only reads.
-- Clock: none.
-- Takes: nothing
SELECT to_jsonb(t)::text AS document FROM supplier.purchase_accounts t ORDER BY t.key
