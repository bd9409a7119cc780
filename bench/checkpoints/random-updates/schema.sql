CREATE TABLE item (
    id      bigint NOT NULL,
    touched bigint NOT NULL,
    filler  text   NOT NULL
) WITH (fillfactor = 80, autovacuum_enabled = off);
