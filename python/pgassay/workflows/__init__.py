"""The paths of commands as code, from what a user asks to what is reported, over all rooms."""
