"""What the noise of a host allows: A/A runs, fitness, forecasts."""
