-- Planning locks all 40 indexes, so load.protocol must be "simple" or "extended": a prepared statement
-- with a generic plan locks only the one it uses.
\set id random(1, 10000 * :scale)
SELECT month FROM wide WHERE id = :id;
