-- 100 000 accounts and 10 tills per unit of scale. The filler makes an account about 100 bytes
-- wide, so that random updates touch many pages; the ledger only grows.
CREATE TABLE account (
    id         bigint NOT NULL,
    branch     int    NOT NULL,
    balance    bigint NOT NULL,
    filler     char(64) NOT NULL
) WITH (fillfactor = 90);

CREATE TABLE till (
    id         int    NOT NULL,
    balance    bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE ledger (
    account_id bigint      NOT NULL,
    till_id    int         NOT NULL,
    amount     bigint      NOT NULL,
    booked_at  timestamptz NOT NULL
);
