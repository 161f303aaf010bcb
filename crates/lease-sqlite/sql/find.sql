-- Finds the runs that a person may mean: the one with this id or key, else at most two whose id begins so.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: ?1 id, ?2 key, ?3 beginning of an id, ?4 what comes right after every id that begins so (each may be NULL)
WITH exact AS MATERIALIZED (
    SELECT r.id FROM lease_runs r WHERE r.id = ?1
    UNION
    SELECT r.id FROM lease_runs r WHERE r.key = ?2
)
SELECT id FROM exact
UNION ALL
SELECT id FROM (
    SELECT r.id FROM lease_runs r
    WHERE r.id >= ?3 AND r.id < ?4 AND NOT EXISTS (SELECT 1 FROM exact)
    ORDER BY r.id
    LIMIT 2)
