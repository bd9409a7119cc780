CREATE TABLE item (
    id int NOT NULL
);
