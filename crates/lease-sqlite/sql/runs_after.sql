-- Reads the ids of runs in their order, page by page.
-- Keeps: nothing is changed.
-- Clock: none.
-- Takes: ?1 the id to go on after (NULL: from the first), ?2 limit
SELECT r.id FROM lease_runs r WHERE r.id > coalesce(?1, '') ORDER BY r.id LIMIT ?2
