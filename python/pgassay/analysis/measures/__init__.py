"""Single trials: their estimates, their course over time and the series of charts."""
