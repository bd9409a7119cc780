"""What an observation without a load shows."""
