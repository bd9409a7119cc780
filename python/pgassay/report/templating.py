"""Where templates lie, and what all of them can use.

Enters: a format, its filters. Leaves: a Jinja environment. Never: renders a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined


def new_environment(
    form: Literal["html", "md"], filters: Mapping[str, Callable[..., object]]
) -> Environment:
    """The page and its parts from `templates/`, each section's template from beside its module."""
    package = "pgassay.report"
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(package, "sections")]),
        autoescape=form == "html",  # noqa: S701 - `literal` escapes for Markdown
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    environment.globals["parts"] = environment.get_template(f"parts.{form}.j2").module
    return environment
