-- Notes a transfer that arrived, in the transaction that brought its runs.
-- Keeps: a transfer arrives once (transfers_pkey).
-- Clock: the store's, for the note only.
-- Takes: $1 transfer, $2 source, $3 runs, $4 digest
INSERT INTO lease.transfers (id, source, runs, digest, arrived_at)
VALUES ($1::uuid, $2::text, $3::bigint, $4::text, clock_timestamp())
