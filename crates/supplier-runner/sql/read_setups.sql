-- Reads supplier.setups as a whole, one JSON object per row.
-- Keeps: nothing; it only reads.
-- Clock: none.
-- Takes: nothing
SELECT to_jsonb(t)::text AS document FROM supplier.setups t ORDER BY t.key
