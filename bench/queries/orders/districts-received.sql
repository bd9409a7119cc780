SELECT w.name, sum(d.received) FROM warehouse w JOIN district d ON d.warehouse_id = w.id
    GROUP BY w.name;
