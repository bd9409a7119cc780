-- No row matches. A hash join hides the look-ups; docs/workloads.md shows the settings that do not.
SELECT count(t.value) FROM generate_series(1, 20000 * :scale) AS i JOIN tiny AS t ON t.id = i + 1000;
