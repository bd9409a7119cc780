-- 12 800 blocks of 8 kB, 100 MB, for each unit of scale. With this fillfactor a row of 2 kB has a block
-- of its own, so that a random key is a random block; the index is 0.3 % of the table. A changed row
-- stays in its block, which has room for three more versions, so the table does not grow. The rows do
-- not compress to nothing, as blanks would in full-page images.
CREATE TABLE block (
    id     int  NOT NULL,
    value  int  NOT NULL,
    filler text NOT NULL
) WITH (fillfactor = 10);
