SELECT count(t.value) FROM generate_series(1, 20000 * :scale) AS i JOIN tiny AS t ON t.id = i + 1000;
