"""One compact text with all facts of a report, for an e-mail or a language model.

It has a limit, and says what it left out. Each part is promised some characters (`parts.toml`);
what a part does not need goes to those before it that want more. It holds no secrets: texts pass
through `spec.secrets` before they are cut, so that a cut cannot hide half of a password.
"""
