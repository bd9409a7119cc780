-- The balance of a random account's branch. The key lies between the least and the greatest number,
-- each of which is one look-up in the primary key.
\set draw random(0, 2000000000)
SELECT branch.bbalance
  FROM (SELECT min(aid) AS least, max(aid) AS greatest FROM pgbench_accounts) AS ends
  JOIN pgbench_accounts AS account
    ON account.aid = ends.least + :draw % (ends.greatest - ends.least + 1)
  JOIN pgbench_branches AS branch ON branch.bid = account.bid;
