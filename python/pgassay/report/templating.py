"""Where templates lie, and what all of them can use.

Enters: a format, its filters. Leaves: a Jinja environment, whose messages are in the language in
force when a page is rendered. Never: renders a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from pgassay.language import catalogue, colon, listed

_NO_BREAK = re.compile(r" (?=%)|(?<=±) ")


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
        extensions=["jinja2.ext.i18n"],
    )
    _install_messages(environment, form)
    environment.filters.update(filters, listed=listed)
    environment.globals["colon"] = colon
    environment.globals["parts"] = environment.get_template(f"parts.{form}.j2").module
    return environment


def braced(message: str) -> str:
    """Jinja's `%(name)s` and `%%` as `{name}` and `%`, which all messages have in the catalogue."""
    return re.sub(r"%\((\w+)\)s", r"{\1}", str(message)).replace("%%", "%")


def _percented(message: str) -> str:
    """The way back. In HTML, values are escaped where Jinja puts them in."""
    return re.sub(r"\{(\w+)\}", r"%(\1)s", message.replace("%", "%%"))


def _install_messages(environment: Environment, form: Literal["html", "md"]) -> None:
    def shown(message: str) -> str:
        return _percented(_NO_BREAK.sub("&nbsp;", message) if form == "html" else message)

    def gettext(message: str) -> str:
        return shown(catalogue().gettext(braced(message)))

    def ngettext(singular: str, plural: str, n: int) -> str:
        return shown(catalogue().ngettext(braced(singular), braced(plural), n))

    environment.install_gettext_callables(  # type: ignore[attr-defined]
        gettext, ngettext, newstyle=True
    )
