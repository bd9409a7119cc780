SELECT use_transaction_ids(2000);
