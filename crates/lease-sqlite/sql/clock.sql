-- Reads the clock, once an operation is over: a lease that ran out meanwhile is not reported as held.
-- Keeps: TRUTH.
-- Clock: the store's, as the statement runs.
-- Takes: nothing
SELECT now_us FROM store_clock
