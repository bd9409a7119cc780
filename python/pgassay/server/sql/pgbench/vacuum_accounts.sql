-- What pgbench -v does besides.
vacuum analyze pgbench_accounts;
