-- Reads the seal, if there is one.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: nothing
SELECT s.transfer, s.destination, s.state, s.sealed_us FROM lease_seal s
