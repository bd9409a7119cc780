-- 100 000 entries, about 10 MB with the primary key, for each unit of scale. No column but the key is
-- indexed. Pages are full at first: the first change of a row moves it to another page, later ones
-- mostly stay in a page.
CREATE TABLE entry (
    id         int         NOT NULL,
    info       text        NOT NULL,
    changed_at timestamptz NOT NULL
);
