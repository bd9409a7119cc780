"""Scripts and SQL as the engine's own parser takes them.

Enters: scenarios, texts of SQL files. Leaves: the variables that a script lacks; a refusal with
file and line for a mistake. Never: opens a connection.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgassay import _core
from pgassay.refusals.refusal import Refusal
from pgassay.spec.workload.folder import Scenario


def parse_scripts(
    scenarios: Sequence[Scenario], *, allow_shell: bool = False, protocol: str
) -> list[tuple[Scenario, Sequence[str]]]:
    """Returns for each scenario the variables that its script reads, and neither the script nor a
    file of parameters gives; SpecError for a mistake."""
    found: list[tuple[Scenario, Sequence[str]]] = []
    for scenario in scenarios:
        given = {} if scenario.parameters is None else {"given": scenario.parameters.names}
        try:
            free = _core.check_script(
                scenario.file,
                scenario.script_bytes,
                allow_shell=allow_shell,
                binds=protocol != "simple",
                **given,
            )
        except _core.ScriptError as error:
            raise wrong_script(error) from None
        found.append((scenario, free))
    return found


def check_plain_sql(file: str, text: str) -> None:
    """Refuses scripts that only psql could run; SpecError with file and line."""
    try:
        _core.check_sql(file, text)
    except _core.ScriptError as error:
        raise wrong_script(error) from None


def wrong_script(error: _core.ScriptError) -> Refusal:
    """The error names file and line; its excerpt shows the place."""
    refusal = Refusal("script-wrong", why=str(error))
    refusal.excerpt = error.excerpt
    return refusal
