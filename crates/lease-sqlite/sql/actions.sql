-- Reads what operators did to a run, oldest first.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: ?1 run
SELECT a.action, a.acted_by, a.reason, a.acted_us FROM lease_actions a WHERE a.run_id = ?1 ORDER BY a.id
