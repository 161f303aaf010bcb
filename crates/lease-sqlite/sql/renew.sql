-- Makes a live lease last longer, if it is this holder's.
-- Keeps: NO-LAZARUS: owner, number and an expiry after the instant that was judged.
-- Clock: none; the instant that the lease was judged at counts.
-- Takes: ?1 run, ?2 owner, ?3 fence, ?4 that instant, ?5 the new expiry
UPDATE lease_runs SET lease_expires_us = ?5
WHERE id = ?1 AND owner = ?2 AND fence = ?3 AND lease_expires_us > ?4
