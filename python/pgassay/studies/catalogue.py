"""The ready studies by name: their texts, and their experiment files.

Enters: the folders beside this file. Leaves: frozen studies, or a SpecError with file and key.
Never: runs one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from pgassay.refusals.refusal import Refusal
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.spec.reading.suggest import did_you_mean
from pgassay.spec.reading.tables import read_table
from pgassay.spec.reading.texts import text_of
from pgassay.spec.reading.values import Table
from pgassay.studies.for_this_host import for_this_host

FOLDER = Path(__file__).parent
DESCRIPTION = "study.toml"


class Form(StrEnum):
    """The two experiment files of a study."""

    QUICK = "quick"
    FULL = "full"


class StudyFile(Table):
    """study.toml."""

    title: str = Field(description="one line")
    question: str = Field(description="the question of both experiment files")
    source: str = Field(description="who asked first: author, title, year, language, kind")
    hypothesis: str = Field(description="what one would expect before any data")
    mechanism: str = Field(description="how the server does it")
    found_by_source: str = Field(description="the source's claim, and how it was obtained")
    errors_of_source: str | None = Field(
        None, description="errors of sign or arithmetic, confounding, noise"
    )
    quick: str = Field(description="what the quick form scales, and what it keeps")
    limits: str = Field(description="what this study cannot tell")
    needs: list[str] = Field([], description="what the host must allow")
    compared: str | None = Field(
        None, description="how the stored run compares with the source; written after that run"
    )


@dataclass(frozen=True)
class Study:
    """A study: its texts, and where its experiment files are."""

    name: str
    folder: Path
    texts: StudyFile

    def experiment(self, form: Form) -> str:
        """The text of an experiment file; shares of memory are those of this host."""
        path = self.folder / f"{form}.toml"
        return for_this_host(text_of(path), file=self._source(form))

    def spec(self, form: Form) -> Spec:
        """Returns the checked experiment of one form of the study."""
        return parse_spec(self.experiment(form), source=self._source(form), beside=self.folder)

    def _source(self, form: Form) -> str:
        return f"{self.name}/{form}.toml"


def names() -> list[str]:
    """Returns the names of all studies."""
    return sorted(file.parent.name for file in FOLDER.glob(f"*/{DESCRIPTION}"))


def study(name: str) -> Study:
    """The study of that name; a SpecError names those that are alike."""
    known = names()
    if name not in known:
        raise Refusal("no-such-study", name=name, near=did_you_mean(name, known))
    folder = FOLDER / name
    texts = read_table(StudyFile, text_of(folder / DESCRIPTION), f"{name}/{DESCRIPTION}")
    return Study(name, folder, texts)
