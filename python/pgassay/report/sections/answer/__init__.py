"""The sections that answer the question: verdicts, what they depend on, and why."""
