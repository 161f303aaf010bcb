-- Fails unless the write before it changed exactly one row: the request stops there, and nothing is committed.
-- Keeps: ALL-OR-NOTHING.
-- Clock: none.
-- Takes: nothing
SELECT 1 LIMIT iif(changes() = 1, 0, 'another number of rows')
