-- Finds the runs that a person may mean: the one with this id or key, else at most two whose id begins so.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 id, $2 key, $3 beginning of an id, $4 the lowest and $5 the highest id that begins so (each may be NULL)
WITH exact AS MATERIALIZED (
    SELECT r.id FROM lease.runs r WHERE r.id = $1::uuid
    UNION
    SELECT r.id FROM lease.runs r WHERE r.key = $2::text
), begins AS (
    SELECT r.id FROM lease.runs r
    WHERE r.id BETWEEN $4::uuid AND $5::uuid AND starts_with(r.id::text, $3::text) AND NOT EXISTS (SELECT FROM exact)
    ORDER BY r.id
    LIMIT 2
)
SELECT id FROM exact UNION ALL SELECT id FROM begins
