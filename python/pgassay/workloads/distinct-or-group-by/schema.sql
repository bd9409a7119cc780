-- 100 000 numbers, about 6 MB with the primary key, for each unit of scale.
CREATE TABLE item (
    id int NOT NULL
);
