-- From PostgreSQL 16 on: without the scan of pg_class at the end.
\set number random(1, 100 * :scale)
VACUUM (SKIP_DATABASE_STATS) t_:number;
