"""Rules and diagnosis: estimates → findings. Thresholds and texts are data."""
