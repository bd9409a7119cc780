-- Accounts, and the ledger of their payments, which has no key and no index. Without an index that
-- an experiment adds, a statement of an account reads all of the ledger.
CREATE TABLE account (
    id         bigint   NOT NULL,
    balance    bigint   NOT NULL,
    filler     char(64) NOT NULL
) WITH (fillfactor = 90);

CREATE TABLE ledger (
    account_id bigint      NOT NULL,
    amount     bigint      NOT NULL,
    booked_at  timestamptz NOT NULL
);
