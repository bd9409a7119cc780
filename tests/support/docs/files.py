"""The files that a page shows, tried by the readers that a user's files go through.

Enters: the blocks of a page. Leaves: what their readers refuse. Never: reaches a server.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pgassay
from pgassay import _core
from pgassay.draw.statistics.transactions import read_transactions
from pgassay.errors import PgassayError
from pgassay.findings.diagnosis.rule_file import Rule
from pgassay.plan.design import make_plan
from pgassay.spec.load.slices import read_slices
from pgassay.spec.parse import load_spec
from pgassay.spec.reading.tables import read_table
from pgassay.spec.workload.folder import load_workload
from support.docs.pages import Block
from support.load.traces import Row, write_trace

_READY = Path(pgassay.__file__).parent / "workloads" / "payments"
_ANY_WORKLOAD = '\n[workload]\nuse = "payments-write"\n'


def write_files(blocks: list[Block], folder: Path) -> None:
    """Write the files that a page shows, and those that its fragments only name."""
    for block in blocks:
        for name in block.files:
            if name.endswith("/"):
                shutil.copytree(_READY, folder / name)
            else:
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text("id\n1\n" if name.endswith(".csv") else "SELECT 1;\n")
        if block.file is not None:
            path = folder / block.file
            path.parent.mkdir(exist_ok=True)
            path.write_text(block.text)


def toml_mistake(block: Block, folder: Path) -> str | None:
    """What the reader of such a file refuses; an experiment is also planned."""
    text = block.text if "[[transaction]]" in block.text else completed(block)
    try:
        tables = tomllib.loads(text)
        if block.file is not None and block.file.endswith("workload.toml"):
            load_workload(f"./{Path(block.file).parent}", folder, file=block.place)
        elif "transaction" in tables:
            (folder / "transactions.toml").write_text(text)
            read_transactions(folder / "transactions.toml")
        elif "sign" in tables:
            read_table(Rule, block.text, block.place)
        else:
            path = folder / "fragment.toml"
            path.write_text(text)
            if (trace := tables.get("load", {}).get("replay")) is not None:
                write_trace(folder / trace, [Row(0, at, "simple", "SELECT 1") for at in (0, 1000)])
            varied = tables.get("factors", {}).get("workload", {}).get("queries", [])
            own = tables.get("workload", {}).get("queries")
            for number, queries in enumerate(varied if own is None else [own]):
                (folder / queries).mkdir(exist_ok=True)
                (folder / queries / "q7.sql").write_text(f"SELECT {number}")
            if "slices" in tables.get("load", {}):
                read_slices(str(path))
            else:
                make_plan(load_spec(path))
    except (tomllib.TOMLDecodeError, PgassayError) as error:
        return str(error)
    return None


def completed(block: Block) -> str:
    """A fragment with the tables that its page's comment names, and a workload."""
    text = block.text
    for table, keys in re.findall(r"(\[[\w.]+\])([^[]*)", block.completion):
        if f"\n{table}" in f"\n{text}":
            text = text.replace(table, f"{table}\n{keys}\n", 1)
        else:
            text += f"\n{table}\n{keys}\n"
    names_workload = re.search(r"^\[(factors\.)?workload\]", text, re.MULTILINE)
    return text if names_workload else text + _ANY_WORKLOAD


def script_mistake(block: Block) -> str | None:
    """What the load engine refuses in a script."""
    try:
        _core.check_script(block.place, block.text.encode())
    except _core.ScriptError as error:
        return str(error)
    return None
