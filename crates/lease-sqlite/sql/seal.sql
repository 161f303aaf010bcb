-- Seals the file, or notes that its runs have moved.
-- Keeps: ONE-HOLDER across two stores: from now on nothing is claimed or saved here.
-- Clock: the store's, as the statement runs.
-- Takes: ?1 transfer, ?2 destination, ?3 state
INSERT INTO lease_seal (one, transfer, destination, state, sealed_us)
SELECT 1, ?1, ?2, ?3, now_us FROM store_clock WHERE true
ON CONFLICT (one) DO UPDATE SET state = excluded.state WHERE transfer = excluded.transfer
