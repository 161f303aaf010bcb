-- Opens the attempt of a claim.
-- Keeps: FENCE-UP: a second one with the number is refused (attempts_one_per_fence).
-- Clock: none; what was read with the run counts.
-- Takes: ?1 run, ?2 fence, ?3 owner, ?4 now, ?5 phase that it goes on from
INSERT INTO lease_attempts (run_id, fence, owner, claimed_us, from_phase) VALUES (?1, ?2, ?3, ?4, ?5)
