-- Notes a plan that a run uses.
-- Keeps: one content per plan name and version.
-- Clock: none.
-- Takes: ?1 plan, ?2 version, ?3 digest, ?4 phases
INSERT INTO lease_plans (name, version, digest, phases) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO NOTHING
