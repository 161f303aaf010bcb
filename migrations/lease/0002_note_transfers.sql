-- Transfers from other stores that arrived here. The note lands with the runs, in one transaction: whoever did not hear
-- of the commit looks here for what became of it.

CREATE TABLE lease.transfers (
    id         uuid         NOT NULL,      -- made by the source when it was sealed
    source     text         NOT NULL,      -- where the runs came from, without any password
    runs       bigint       NOT NULL,
    digest     lease.digest NOT NULL,      -- over all records, in the order of their ids
    arrived_at timestamptz  NOT NULL,
    CONSTRAINT transfers_pkey PRIMARY KEY (id),
    CONSTRAINT transfers_runs_not_negative CHECK (runs >= 0)
);
