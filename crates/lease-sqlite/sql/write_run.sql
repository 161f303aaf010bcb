-- Writes a run as an operation left it, if it still is as the operation found it.
-- Keeps: ALL-OR-NOTHING, FENCE-UP: number, owner, expiry and phase have to be those that were judged, and the number never goes down.
-- Clock: none; what was read with the run counts.
-- Takes: ?1 run, ?2 to ?5 its fence, owner, expiry and phase as found; from ?6 on the columns as they are to be
UPDATE lease_runs
SET phase = ?6, phase_fence = ?7, phase_owner = ?8, phase_digest = ?9, status = ?10, paused = ?11, fence = ?12, owner = ?13,
    lease_expires_us = ?14, lease_ended = ?15, losses = ?16, failures = ?17, due_us = ?18, key_epoch = ?19, error = ?20
WHERE id = ?1 AND fence = ?2 AND owner IS ?3 AND lease_expires_us IS ?4 AND phase = ?5 AND fence <= ?12
