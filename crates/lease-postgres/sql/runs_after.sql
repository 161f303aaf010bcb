-- Reads the ids of runs in their order, page by page.
-- Keeps: nothing is locked or changed.
-- Clock: none.
-- Takes: $1 the id to go on after (NULL: from the first), $2 limit
SELECT r.id
FROM lease.runs r
WHERE r.id >= coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND r.id IS DISTINCT FROM $1::uuid
ORDER BY r.id
LIMIT $2::bigint
