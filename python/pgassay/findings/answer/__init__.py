"""What answers the question: verdicts, what they depend on, what explains them."""
