-- Reads which content is in use under a plan's name and version.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: $1 plan, $2 version
SELECT p.digest FROM lease.plans p WHERE p.name = $1::text AND p.version = $2::int
