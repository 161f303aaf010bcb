-- Takes the seal of a transfer off again that brought nothing.
-- Keeps: a seal that says 'moved' stays (seal_stays).
-- Clock: none.
-- Takes: ?1 transfer
DELETE FROM lease_seal WHERE transfer = ?1 AND state = 'moving'
