"""Notes are codes with typed values; their sentences are made where they are shown."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from string import Formatter

import pytest

from pgassay.analysis.compare.model import Withdrawn
from pgassay.analysis.curves.checkpoints.causes import TESTS
from pgassay.language import in_language
from pgassay.note_catalogues import LEGACY, ROOMS, RULES, VALUES, catalogue
from pgassay.notes import Importance, Note, legacy, note_of
from pgassay.plan.duet import background
from pgassay.plan.modes import carries_over
from pgassay.refusals.refusal import SettingRefused, TrialRefused, UnfitValue
from pgassay.server.copied.carried import left_out
from pgassay.spec.server.reset import ResetLevel
from pgassay.stored_notes import coded, said_at
from pgassay.trials.guards.thresholds import shipped_limits
from pgassay.trials.sampling.not_measured import codes_of, hidden_settings
from support.docs.pages import ROOT

PHASE = Note(
    "plan/checkpoint-phase",
    {
        "what": Note("plan/one-step", {"length": 600.0}),
        "lengths_s": (1800.0, 2.5),
        "fitting": Note("plan/whole-cycles", {"common": 1800}),
    },
)


NESTED: dict[str, object] = {"code": "plan/one-trial-is", "values": {}}
for _ in range(40):
    NESTED = {"code": "plan/weak-on-carry-over", "values": {"trials": "x", "sure": NESTED}}


def test_a_note_is_a_sentence_in_the_language_in_force_with_its_numbers() -> None:
    short = Note("plan/short-steps", {"shortest": 2.5})
    assert str(short).startswith("steps of 2.5 s are short")
    with in_language("ru"):
        assert str(short).startswith("ступени по 2,5 с коротки")
        assert "1800, 2,5 с" in str(PHASE)
    with in_language("zh"):
        assert str(short).startswith("2.5 s 的负载阶段很短")
    said = "a step of 600 s is not a whole number of 1800, 2.5 s cycles"
    assert said in str(PHASE)


def test_what_is_stored_is_what_is_read() -> None:
    stored = json.loads(json.dumps(coded("warnings", [PHASE], "notes")))
    assert list(stored) == ["warnings", "notes"]
    assert said_at(stored, "warnings", "notes") == (PHASE,)


@pytest.mark.parametrize(
    "stored",
    [
        {"code": "plan/of-a-newer-version", "values": {}},
        {"code": "nowhere/short-steps", "values": {}},
        {"code": "plan/short-steps", "values": {}},
        {"code": "plan/short-steps", "values": {"shortest": "text"}},
        {"code": LEGACY, "values": {}},
        {"code": "plan/short-steps", "values": {"shortest": None}},
        {"code": "plan/short-steps", "values": {"shortest": [["x"]]}},
        NESTED,
        {"values": []},
        None,
    ],
)
def test_a_note_that_this_version_does_not_know_is_its_sentence(stored: object) -> None:
    (note,) = said_at({"said": ["as it was said"], "said_coded": [stored]}, "said")
    assert note == Note(LEGACY, {"text": "as it was said"})
    assert note.importance is Importance.SIZE
    assert said_at({"said": ["by an older version"]}, "said")[0].code == LEGACY


def test_a_key_has_its_sentence_and_beside_it_the_note() -> None:
    notes = (PHASE, Note("plan/blocks"))
    made = coded("one", PHASE) | coded("some", notes) | coded("no", None)
    stored = json.loads(json.dumps(made | coded("named", {"x": PHASE})))
    assert stored["one"] == str(PHASE)
    assert stored["some"] == list(map(str, notes))
    assert said_at(stored, "one") == PHASE
    assert said_at(stored, "some") == notes
    assert said_at(stored, "named") == {"x": PHASE}
    assert said_at(stored, "no") is None
    assert said_at(stored, "absent") is None


@pytest.mark.parametrize("strange", [None, 1, "text", [], [1, 2, 3], {"code": 1}, {"x": "y"}])
def test_a_key_whose_note_cannot_be_read_is_its_sentence(strange: object) -> None:
    said = {"one": "words", "one_coded": strange}
    assert said_at(said, "one") == legacy("words")
    assert said_at({"some": ["words"], "some_coded": strange}, "some") == (legacy("words"),)
    named = {"named": {"x": "words"}, "named_coded": strange}
    assert said_at(named, "named") == {"x": legacy("words")}


def test_every_text_of_a_rule_has_named_places() -> None:
    for rule in RULES:
        for entry in catalogue(rule).values():
            assert all(name != "" for _, name, _, _ in Formatter().parse(entry["text"]))


def reasons_of_a_log() -> set[str]:
    """Why statements of a log are lost: words of the native module and of the room."""
    sources = [
        *(ROOT / "crates/log/src").glob("*.rs"),
        *(ROOT / "python/pgassay/draw/log").glob("*.py"),
    ]
    texts = [path.read_text("utf-8") for path in sources]
    named = re.compile(r'(?:\bLost\(|lose(?:_all)?\(|_(?:MONITORING|UNPARSABLE) = )"([a-z-]+)"')
    return {word for text in texts for word in named.findall(text)}


def test_every_code_in_the_sources_has_a_sentence_and_every_sentence_a_use() -> None:
    used = set()
    for path in (ROOT / "python" / "pgassay").rglob("*.py"):
        used |= set(re.findall(rf'"((?:{"|".join(ROOMS)})/[a-z0-9-]+)"', path.read_text("utf-8")))
    known = {f"{room}/{name}" for room in ROOMS for name in catalogue(room)}
    # Those of guards, resets and settings are put together from the names in their TOML files.
    used |= {f"trials/guards/{name}" for name in shipped_limits()}
    used |= {one.code for level in ResetLevel for one in (level.does, *level.differs)}
    used |= {code for entry in hidden_settings() for code in codes_of(entry)}
    used |= {f"server/copied/{why}" for why in left_out()["libraries"].values()}
    used |= {f"plan/{why}" for table in (background(), carries_over()) for why in table.values()}
    used |= {f"analysis/curves/{name.replace('_', '-')}" for name in TESTS}
    used |= {f"analysis/gates/{one.value}" for one in Withdrawn}
    used |= {f"draw/log/{why}" for why in reasons_of_a_log()}
    assert known == used - {*ROOMS, *RULES}
    for room in ROOMS:
        for entry in catalogue(room).values():
            assert set(entry) <= {"text", "one", "counted", "importance", "disturbs", "mark"}
            assert ("one" in entry) == ("counted" in entry)
            assert all(name != "" for _, name, _, _ in Formatter().parse(entry["text"]))


def test_an_error_with_a_code_is_a_note_of_its_code_and_values() -> None:
    shown = TrialRefused("command-failed", "load.command", status=3, said="no", log=Path("a.log"))
    refused = Note("refusals/command-failed", {"status": 3, "said": "no", "log": "a.log"})
    note = note_of(shown)
    assert note == Note("trials/run/of-key", {"key": "load.command", "why": refused})
    assert str(note) == str(shown)
    setting = SettingRefused("work_mem", "setting-gone", value="4MB")
    assert str(note_of(setting)) == str(setting)
    unfit = UnfitValue("of-another-schema", found="a/2", wanted="a/1")
    assert note_of(unfit) == Note("refusals/of-another-schema", unfit.refusal.values)
    stored = json.loads(json.dumps(coded("reason", note)))
    assert said_at(stored, "reason") == note
    assert note_of(OSError("disk")) == legacy("disk")


def test_every_sentence_of_a_rule_has_a_use() -> None:
    forms, names = set(), set()
    for path in (ROOT / "python" / "pgassay" / "findings").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                said = "".join(
                    re.escape(str(part.value)) if isinstance(part, ast.Constant) else "\0"
                    for part in node.values
                )
                forms.add(said.rpartition("/")[2].replace("\0", ".+"))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add((str(path.parent), node.value))
    of_codes = re.compile("|".join(forms - {".+"}))
    for rule in RULES:
        room = str((ROOT / "python" / "pgassay" / rule).parent)
        for key in catalogue(rule):
            named = any((room, part) in names for part in key.split("."))
            assert named or of_codes.fullmatch(key), (rule, key)


def test_a_text_that_is_no_sentence_has_no_code() -> None:
    known = [key.split(".") for rule in RULES for key in catalogue(rule)]
    assert not [key for key in known if VALUES in key]
