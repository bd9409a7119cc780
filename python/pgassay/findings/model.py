"""A finding: what is claimed, with its evidence.

Enters: nothing. Leaves: the `Finding` value and its parts. Never: computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pgassay.analysis.model import Comparison
from pgassay.notes import Importance, Note

SENTENCES = "findings/sentences"
"""The code of a claim that is several notes, one after the other."""

FITNESS = "findings/noise/aa_run/titles.fitness"
"""The code of the title under which an A/A run says whether the host is fit."""

_ALL_TRIALS = Note("findings/all-trials")


class FindingKind(StrEnum):
    """What a finding is for."""

    VERDICT = "verdict"
    """Answers the question."""
    INTERACTION = "interaction"
    """Says whether one factor's effect depends on another."""
    TREND = "trend"
    """Says whether a metric rises or falls along ordered levels."""
    CALIBRATION = "calibration"
    """What an A/A run says about the host."""
    EXPLANATION = "explanation"
    """A difference between the arms that may explain the verdict."""
    DIAGNOSIS = "diagnosis"
    """A known mechanism or problem that the run shows signs of, with how to test it."""
    OBSERVATION = "observation"
    """Something else the run shows: by quantile, by load, around checkpoints, inside trials."""
    WARNING = "warning"
    """A caveat about the measurement."""


class Confidence(StrEnum):
    """How far the run supports a finding of kind DIAGNOSIS."""

    CONFIRMED = "confirmed"
    """It differs between arms that were assigned at random, after correction for many tests."""
    SUPPORTED = "supported"
    """Several signs of it agree in nearly all trials; nothing was varied to test it."""
    HYPOTHESIS = "hypothesis"
    """One sign of it, or an association inside trials."""


@dataclass(frozen=True)
class Evidence:
    """One figure that a finding rests on."""

    metric: Note
    """What was measured."""
    figure: Note
    """The value with its unit, and interval where there is one."""
    arm: Note | str = ""
    """The label of the arm, or two that are compared; empty where it is of all."""
    time: Note = _ALL_TRIALS

    @property
    def of_arm(self) -> Note:
        """The figure, with the arm where it is of one."""
        if not self.arm:
            return self.figure
        return Note.of("findings/figure-of-arm", figure=self.figure, arm=self.arm)


@dataclass(frozen=True)
class Finding:
    """A claim in one sentence, with what it rests on."""

    kind: FindingKind
    title: Note
    claim: Note
    """The sentence as a code with its values."""
    comparison: Comparison | None = None
    """The comparison of arms that is the claim, where it is one."""
    rule: str = ""
    """The rule that made it, where a report has a section for that rule."""
    importance: Importance | None = None
    """Of a caveat: what it could change."""
    confidence: Confidence | None = None
    evidence: tuple[Evidence, ...] = ()
    not_for_it: tuple[Evidence, ...] = ()
    """Figures that were looked at and do not speak for the claim."""
    confirm: Note | None = None
    """What to do, and what would then be seen, if the claim is true."""
    refute: Note | None = None
    """What would show that it is false."""
    factors: tuple[str, ...] = ()
    """Of a DIAGNOSIS that names a mechanism: the factors that make it come and go."""
    next_spec: str = ""
    """An experiment file that tests the claim, ready for `pgassay run`."""

    @property
    def heading(self) -> str:
        """The title, in the language in force."""
        return str(self.title)

    @property
    def text(self) -> str:
        """The sentence, in the language in force."""
        return str(self.claim)

    @property
    def sentences(self) -> tuple[Note, ...]:
        """What is claimed, sentence by sentence where the claim has several."""
        return sentences_of(self.claim)


def sentences_of(note: Note) -> tuple[Note, ...]:
    """Returns the sentences of a note that joins several, else the note."""
    said = note.values["said"] if note.code == SENTENCES else (note,)
    return tuple(one for one in said if isinstance(one, Note)) if isinstance(said, tuple) else ()
