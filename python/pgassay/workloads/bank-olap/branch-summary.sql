-- Accounts and movements of every branch: reads both large tables whole.
WITH holding AS (
    SELECT bid, count(*) AS accounts, sum(abalance) AS balance, avg(abalance) AS mean
      FROM pgbench_accounts
     GROUP BY bid
), movement AS (
    SELECT bid, count(*) AS movements, sum(delta) AS flow, count(DISTINCT aid) AS active,
           max(mtime) - min(mtime) AS lasting
      FROM pgbench_history
     WHERE mtime > CURRENT_TIMESTAMP - interval '7 days'
     GROUP BY bid
)
SELECT branch.bid, holding.accounts, holding.balance, holding.mean,
       coalesce(movement.movements, 0) AS movements, coalesce(movement.flow, 0) AS flow,
       coalesce(movement.active, 0) AS active, movement.lasting,
       holding.balance / nullif(movement.movements, 0) AS balance_for_each_movement
  FROM pgbench_branches AS branch
  JOIN holding USING (bid)
  LEFT JOIN movement USING (bid)
 ORDER BY holding.balance DESC, branch.bid
 LIMIT 100;
