-- This session can write nothing.
SET default_transaction_read_only = on
