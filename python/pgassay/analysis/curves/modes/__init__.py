"""The modes of latency: how many, where they end, what share each has, what goes with them."""
