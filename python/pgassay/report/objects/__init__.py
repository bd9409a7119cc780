"""Reports as JSON objects, and their schemas."""
