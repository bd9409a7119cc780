"""What a report says as a value: sections of blocks, which every format renders in its own way."""
