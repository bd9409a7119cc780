"""Known mechanisms and problems, recognised by signs: the rules are data, a user may add more."""
