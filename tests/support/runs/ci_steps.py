"""Runs the steps of action.yml and of ci/gitlab.yml as their platforms would, on this machine.

Enters: inputs, a folder to work in. Leaves: an exit status, what was printed, the folder's files.
Never: reaches a platform: pip, gh and the server of GitLab are stand-ins.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
GITLAB_SPEC, GITLAB = yaml.safe_load_all((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))
LIMIT_S = 300
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_INPUT = re.compile(r"\$\[\[\s*inputs\.([\w-]+)\s*\]\]")

# A virtual environment whose pip installs nothing and which has this checkout's pgassay.
_PYTHON = """#!/bin/sh
if [ "$1 $2 $3" = "-I -m venv" ]; then
  mkdir -p "$4/bin"
  printf '#!/bin/sh\\necho "$@" >> "{log}"\\n' > "$4/bin/pip"
  chmod +x "$4/bin/pip"
  ln -sf "{pgassay}" "$4/bin/pgassay"
else
  exec "{python}" "$@"
fi
"""
# A pgassay that runs nothing: `run --out RUN … SPEC` makes RUN and fails if it gets a gate, and
# `report` prints a line.
_STAND_IN = r"""#!/bin/sh
echo "$@" >> "{log}"
if [ "$1" = run ]; then mkdir -p "$3" && touch "$3/analysis.json"; else echo "a report"; fi
case "$*" in *--gate\ *) exit 3 ;; esac
"""
# Answers a search with the id in own.txt, and keeps what it was asked and the text it was given.
_GH = """#!/bin/sh
echo "$@" >> "{log}"
for word in "$@"; do
  case "$word" in
    body=@*) cp "${{word#body=@}}" "{log}.body" ;;
    --jq) cat "{log}.own" 2>/dev/null || true ;;
  esac
done
"""


@dataclass
class Outcome:
    """How a job ended."""

    status: int
    printed: str
    folder: Path

    @property
    def installed(self) -> str:
        return (self.folder / "pip.log").read_text()

    @property
    def asked_gh(self) -> list[str]:
        log = self.folder / "gh.log"
        return log.read_text().splitlines() if log.exists() else []


def github(
    folder: Path, number: str = "7", *, real: bool = True, author: str = "lab/shop", **inputs: str
) -> Outcome:
    """The steps of the action; it stops at the first that fails, as a job does. `author` is the
    repository that the pull request comes from."""
    values = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    known = {f"inputs.{name}": value for name, value in values.items()}
    known |= {
        "github.action_path": str(ROOT),
        "github.event.pull_request.number": number,
        "github.event_name": "pull_request" if number else "push",
        "github.event.pull_request.head.repo.full_name": author if number else "",
        "github.token": "token",
    }
    files = {
        name: folder / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    }
    for file in files.values():
        file.touch()
    variables = _variables(folder, real=real) | {name: str(file) for name, file in files.items()}
    variables |= {"RUNNER_TEMP": str(folder), "GITHUB_REPOSITORY": "lab/shop"}
    printed = ""
    for step in ACTION["runs"]["steps"]:
        if "run" not in step:
            continue
        own = {name: _filled(str(value), known) for name, value in step.get("env", {}).items()}
        path = ":".join([*files["GITHUB_PATH"].read_text().split(), variables["PATH"]])
        done = _shell(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                      folder, variables | own | {"PATH": path})  # fmt: skip
        printed += done.stdout
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            known[f"steps.{step.get('id', '')}.outputs.{name}"] = value
        if done.returncode != 0:
            return Outcome(done.returncode, printed, folder)
    return Outcome(0, printed, folder)


def gitlab(
    folder: Path, variables: Mapping[str, str], *, real: bool = True, **inputs: str
) -> Outcome:
    """The script of the job, in one shell."""
    values = {name: (one or {}).get("default", "") for name, one in
              GITLAB_SPEC["spec"]["inputs"].items()}  # fmt: skip
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    job = GITLAB["pgassay"]

    def filled(text: str) -> str:
        return _INPUT.sub(lambda match: values[match[1]], text)

    own = {name: filled(text) for name, text in job["variables"].items()}
    script = "\n".join([*job["before_script"], *job["script"]])
    done = _shell(
        ["sh", "-e", "-c", script], folder, _variables(folder, real=real) | own | dict(variables)
    )
    return Outcome(done.returncode, done.stdout, folder)


@dataclass
class Notes:
    """A merge request's notes, as the server of GitLab keeps them."""

    address: str = ""
    bodies: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def gitlab_server() -> Iterator[Notes]:
    """A stand-in for GitLab's API of notes, on loopback."""
    notes = Notes()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer([{"id": i + 1, "body": b} for i, b in enumerate(notes.bodies)])

        def do_POST(self) -> None:
            notes.bodies.append(self._body())
            self._answer({})

        def do_PUT(self) -> None:
            notes.bodies[int(self.path.rpartition("/")[2]) - 1] = self._body()
            self._answer({})

        def _body(self) -> str:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return str(sent["body"])

        def _answer(self, value: Any) -> None:
            is_known = self.headers["PRIVATE-TOKEN"] == "token"
            notes.requests.append(f"{self.command} {self.path.partition('?')[0]}")
            self.send_response(200 if is_known else 401)
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    notes.address = f"http://127.0.0.1:{server.server_port}/api/v4"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield notes
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _variables(folder: Path, *, real: bool) -> dict[str, str]:
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    pgassay = Path(sys.executable).parent / "pgassay" if real else programs / "stand-in"
    log = folder / "pip.log"
    texts = {
        "python3": _PYTHON.format(log=log, pgassay=pgassay, python=sys.executable),
        "gh": _GH.format(log=folder / "gh.log"),
        "stand-in": _STAND_IN.format(log=folder / "pgassay.log"),
    }
    for name, text in texts.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return dict(os.environ) | {"PATH": f"{programs}:{os.environ['PATH']}"}


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: known.get(match[1], ""), text)


def _shell(
    words: list[str], folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, env=dict(variables), text=True, timeout=LIMIT_S,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
