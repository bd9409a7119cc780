"""Speed, sampling costs and error rates of pgassay, measured; each writes a page in docs/."""

from pathlib import Path

MEASURED = Path(__file__).parent.parent / "docs" / "measured"
DATA = Path(__file__).parent / "data"
"""Figures of `make validate-real`, from which its pages can be written again."""
