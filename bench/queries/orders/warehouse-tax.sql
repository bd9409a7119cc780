SELECT name, tax FROM warehouse WHERE id = 1;
