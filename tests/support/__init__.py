"""What tests share: made-up runs with known answers, servers started for the tests."""
