CREATE TABLE source (
    id    int  NOT NULL,
    value text NOT NULL
);
