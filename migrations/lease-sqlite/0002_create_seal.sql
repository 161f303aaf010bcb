-- The seal of a file whose runs move to another store: it can be read, and never worked on again.
--
-- Why triggers: whatever program opens the file, of whatever version, cannot write to its runs. The seal itself goes from
-- 'moving' to 'moved', or is taken off again as long as it says 'moving'.

CREATE TABLE lease_seal (
    one         INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    transfer    TEXT    NOT NULL CHECK (length(transfer) = 36),
    destination TEXT    NOT NULL,              -- where the runs go, without any password
    state       TEXT    NOT NULL CHECK (state IN ('moving', 'moved')),
    sealed_us   INTEGER NOT NULL
) STRICT;

CREATE TRIGGER seal_stays BEFORE DELETE ON lease_seal WHEN old.state = 'moved'
    BEGIN SELECT RAISE(ABORT, 'the runs have moved'); END;
CREATE TRIGGER seal_does_not_go_back BEFORE UPDATE ON lease_seal WHEN old.state = 'moved'
    BEGIN SELECT RAISE(ABORT, 'the runs have moved'); END;

CREATE TRIGGER sealed_runs_opened BEFORE INSERT ON lease_runs WHEN EXISTS (SELECT 1 FROM lease_seal)
    BEGIN SELECT RAISE(ABORT, 'sealed'); END;
CREATE TRIGGER sealed_runs_written BEFORE UPDATE ON lease_runs WHEN EXISTS (SELECT 1 FROM lease_seal)
    BEGIN SELECT RAISE(ABORT, 'sealed'); END;
CREATE TRIGGER sealed_runs_deleted BEFORE DELETE ON lease_runs WHEN EXISTS (SELECT 1 FROM lease_seal)
    BEGIN SELECT RAISE(ABORT, 'sealed'); END;
CREATE TRIGGER sealed_receipts_added BEFORE INSERT ON lease_receipts WHEN EXISTS (SELECT 1 FROM lease_seal)
    BEGIN SELECT RAISE(ABORT, 'sealed'); END;
CREATE TRIGGER sealed_attempts_opened BEFORE INSERT ON lease_attempts WHEN EXISTS (SELECT 1 FROM lease_seal)
    BEGIN SELECT RAISE(ABORT, 'sealed'); END;
CREATE TRIGGER sealed_attempts_written BEFORE UPDATE ON lease_attempts WHEN EXISTS (SELECT 1 FROM lease_seal)
    BEGIN SELECT RAISE(ABORT, 'sealed'); END;
