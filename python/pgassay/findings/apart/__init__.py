"""What do runs made apart say, and what not? No sentence calls a difference caused."""
