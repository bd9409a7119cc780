"""Write the manual pages: pgassay(1) and one for each command.

    python -m tools.manual.pages FOLDER

Enters: the commands with their options, texts.toml. Leaves: pgassay.1, pgassay-run.1 and so on.
Never: has a date, so that the same commands give the same pages.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pgassay import __version__
from pgassay.cli.commands import COMMANDS, load_command
from pgassay.cli.main import app

HERE = Path(__file__).parent
_WITHOUT_BRACES = str.maketrans("", "", "{}")
_AS_TYPED = str.maketrans(
    {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
)
"""Characters that troff would make typographic, so that a command could not be copied."""


def main(folder: Path) -> None:
    """Write every page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / name).write_text(text, "utf-8")


def pages() -> Iterator[tuple[str, str]]:
    """File names and texts."""
    texts = tomllib.loads((HERE / "texts.toml").read_text("utf-8"))
    environment = Environment(  # noqa: S701 - `roff` escapes
        loader=FileSystemLoader(HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(roff=roff, paragraphs=paragraphs)
    template = environment.get_template("page.1.j2")
    group: Any = typer.main.get_command(app)
    shared = {"version": __version__, "texts": texts, "commands": COMMANDS}
    examples = texts["examples"]
    for name in COMMANDS:
        page = described(load_command(name), f"pgassay {name}")
        text = template.render(page, is_root=False, examples=examples.get(name, []), **shared)
        yield f"{page_of(name)}.1", text
    page = described(group, "pgassay")
    yield "pgassay.1", template.render(page, is_root=True, examples=examples["pgassay"], **shared)


def page_of(name: str) -> str:
    """Returns the name of a command's page, such as `pgassay-observe-compare`."""
    return f"pgassay-{name.replace(' ', '-')}"


def described(command: Any, name: str) -> dict[str, Any]:
    """What a page says of one command."""
    context = typer.Context(command, info_name=name)
    sentence, _, rest = (command.help or "").replace("\\[", "[").partition("\n")
    entries: dict[str, list[tuple[str, str]]] = {}
    for parameter in (*command.params, command.get_help_option(context)):
        record = parameter.get_help_record(context)
        if record is not None:
            is_argument = parameter.param_type_name == "argument"
            head = "Arguments" if is_argument else parameter.rich_help_panel or "Options"
            names, text = (part.replace("\\[", "[") for part in record)
            entries.setdefault(head, []).append((names, text))
    first_of_all = [head for head in ("Arguments", "Options") if head in entries]
    return {
        "name": name,
        "sentence": sentence.rstrip("."),
        "more": rest.strip(),
        "usage": " ".join(command.collect_usage_pieces(context)).translate(_WITHOUT_BRACES),
        "entries": {head: entries.pop(head) for head in first_of_all} | entries,
    }


def roff(text: str) -> str:
    """One line of text that troff shows as it is."""
    line = " ".join(text.split()).translate(_AS_TYPED)
    return f"\\&{line}" if line.startswith(".") else line


def paragraphs(text: str) -> str:
    """Text whose paragraphs are parted by empty lines."""
    return "\n.PP\n".join(roff(one) for one in text.strip().split("\n\n"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
