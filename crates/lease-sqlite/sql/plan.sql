-- Reads the digest that a plan's name and version are in use with.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: ?1 plan, ?2 version
SELECT p.digest FROM lease_plans p WHERE p.name = ?1 AND p.version = ?2
