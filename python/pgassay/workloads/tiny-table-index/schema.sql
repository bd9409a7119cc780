CREATE TABLE tiny (
    id    bigint NOT NULL,
    value text   NOT NULL
);
