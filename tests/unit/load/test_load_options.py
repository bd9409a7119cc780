"""pgbench's letters become the engine's configuration, or an error that names the letter."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer

from pgassay import _core
from pgassay.cli.commands import load_command
from pgassay.cli.load.command import replacements
from pgassay.cli.load.options import OUR_PANELS, LoadOptions
from pgassay.cli.load.request import request_of, scenarios_of
from pgassay.cli.load.search import probe_options, search_choices
from pgassay.errors import SpecError
from pgassay.server.owned.installation import embedded_installation
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.table import LoadTable
from support.docs.pages import code_spans
from support.refusals import refused

DOCS = Path(__file__).parents[3] / "docs" / "load.md"


def configuration(**choices: Any) -> dict[str, Any]:
    given = LoadOptions(**{"random_seed": "1", **choices})
    request = request_of(given, scenarios_of(given))
    found: dict[str, Any] = json.loads(
        request.configuration(ConnectionParameters("/run", 5432, "u", "d"))
    )
    return found


def options() -> dict[str, list[str]]:
    """Parameter of the command → its option names."""
    found = {}
    for name, hint in get_type_hints(LoadOptions, include_extras=True).items():
        (option,) = hint.__metadata__
        declared = [option.default, *(option.param_decls or ())]
        found[name] = [word for word in declared if isinstance(word, str) and word.startswith("-")]
    return found


def test_what_was_not_asked_for_is_not_sent() -> None:
    assert set(configuration()) == {
        "connection", "application_name", "scenarios", "steps", "transactions_per_client",
        "protocol", "threads", "seed", "interval_s", "variables",
    }  # fmt: skip
    assert set(configuration()["steps"][0]) == {"clients", "duration_s", "measured"}


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"clients": 4, "threads": 9}, {"threads": 4}),
        ({"transactions": 7}, {"transactions_per_client": 7}),
        ({}, {"transactions_per_client": 10}),
        ({"duration": 2.0}, {"transactions_per_client": None}),
        ({"protocol": "extended"}, {"protocol": "extended"}),
        ({"latency_limit": 20.0}, {"latency_limit_ms": 20.0}),
        ({"max_tries": 3}, {"max_tries": 3}),
        ({"max_tries": 0, "duration": 1.0}, {"max_tries": 0}),
        ({"connect": True}, {"reconnect": "each_transaction"}),
        ({"reconnect": "on-loss"}, {"reconnect": "on_loss"}),
        ({"report_per_command": True}, {"statements": True}),
        ({"exit_on_abort": True}, {"exit_on_abort": True}),
        ({"verbose_errors": True}, {"verbose_errors": True}),
        ({"think_time": "10ms:exp"}, {"think_time_s": 0.01, "think_time": "exponential"}),
        ({"interval": "100ms"}, {"interval_s": 0.1}),
        ({"pool": "per-scenario"}, {"pools": "per_scenario"}),
        ({"transport": "epoll"}, {"transport": "epoll"}),
        ({"busy_poll": "50us"}, {"busy_poll_us": 50}),
        ({"busy_poll": "off"}, {"busy_poll_us": 0}),
        ({"allow_shell": True}, {"allow_shell": True}),
        ({"rate": "50", "arrivals": "constant"}, {"arrivals": "constant"}),
        ({"log": True}, {"log": {"prefix": "pgbench_log"}}),
        (
            {"log": True, "log_prefix": "x", "sampling_rate": 0.1},
            {"log": {"prefix": "x", "sampling_rate": 0.1}},
        ),
        (
            {"log": True, "failures_detailed": True},
            {"log": {"prefix": "pgbench_log", "failures_detailed": True}},
        ),
        (
            {"log": True, "aggregate_interval": 5, "duration": 20.0},
            {"log": {"prefix": "pgbench_log", "aggregate_interval_s": 5}},
        ),
        (
            {"define": ["a=007", "b=x=1", "é€=1_0"]},
            {"variables": {"scale": 1, "a": "007", "b": "x=1", "é€": "1_0"}},
        ),
        ({"random_seed": "18446744073709551615"}, {"seed": 2**64 - 1}),
    ],
)
def test_a_letter_becomes_its_key(choices: dict[str, Any], expected: dict[str, Any]) -> None:
    found = configuration(**choices)
    assert {key: found[key] for key in expected} == expected
    # The engine takes it: what it refuses it refuses here.
    assert isinstance(_core.Load(json.dumps(found)), _core.Load)


def test_steps_come_in_order_shuffled_by_rate_and_in_stages() -> None:
    def steps(**choices: Any) -> list[tuple[int, float, float | None]]:
        found = configuration(**choices)["steps"]
        return [(s["clients"], s["duration_s"], s.get("rate")) for s in found if s["measured"]]

    assert steps(steps="1..4 log 3", duration=2.0) == [(1, 2, None), (2, 2, None), (4, 2, None)]
    assert steps(steps="30s:10,2m:50") == [(10, 30, None), (50, 120, None)]
    assert steps(rate="10,20", duration=3.0, clients=5) == [(5, 3, 10), (5, 3, 20)]
    assert steps(steps="2,3", rate="7", duration=1.0) == [(2, 1, 7), (3, 1, 7)]
    drawn = steps(steps="1..9 lin 9", duration=1.0, shuffle=True)
    assert sorted(drawn) == steps(steps="1..9 lin 9", duration=1.0)
    assert drawn != sorted(drawn)
    assert drawn == steps(steps="1..9 lin 9", duration=1.0, shuffle=True)
    warm = configuration(steps="4,2", duration=1.0, warmup="500ms")["steps"][0]
    assert warm == {"clients": 4, "duration_s": 0.5, "measured": False}


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"duration": 1.0, "transactions": 1}, refused("options-exclude-each-other", other="-T")),
        ({"sampling_rate": 0.5}, refused("option-without", other="-l")),
        ({"log_prefix": "x"}, refused("option-without", other="-l")),
        ({"log": True, "sampling_rate": 1.5}, refused("sampling-rate-form", "--sampling-rate 1.5")),
        (
            {"log": True, "sampling_rate": 0.5, "aggregate_interval": 1},
            refused("options-exclude-each-other", other="--aggregate-interval"),
        ),
        (
            {"log": True, "aggregate_interval": 3, "duration": 10.0},
            refused("no-multiple-of-the-interval", "--aggregate-interval 3", time=10.0),
        ),
        ({"over": "rate"}, refused("option-without", other="--search")),
        ({"within": "5%"}, refused("option-without", other="--search")),
        ({"confidence": "95%"}, refused("option-without", other="--search")),
        ({"progress_timestamp": True}, refused("option-without", other="-P")),
        ({"max_tries": 0}, refused("tries-without-end")),
        ({"arrivals": "constant"}, refused("option-without", other="-R")),
        ({"rate": "0"}, refused("rate-out-of-range", "-R 0")),
        ({"rate": "fast"}, refused("not-an-amount", "-R fast", given="fast")),
        ({"rate": "nan"}, refused("not-an-amount", "-R nan", given="nan")),
        ({"rate": "inf"}, refused("not-an-amount", "-R inf", given="inf")),
        ({"rate": "1e12"}, refused("rate-out-of-range", "-R 1e12")),
        (
            {"rate": "5", "duration": 1.0, "think_time": "1s"},
            refused("options-exclude-each-other", other="-R"),
        ),
        ({"duration": float("inf")}, refused("limit-form", "-T inf")),
        ({"progress": float("nan")}, refused("limit-form", "-P nan")),
        ({"warmup": "1s"}, refused("warmup-of-transactions")),
        ({"warmup": "1s", "transactions": 3}, refused("warmup-of-transactions")),
        ({"warmup": "-1s", "duration": 1.0}, refused("warmup-form", "--warmup -1s")),
        ({"steps": "999999999999", "duration": 1.0}, refused("amount-too-large")),
        (
            {"log": True, "log_prefix": "/no/such/x"},
            refused("folder-not-writable", "--log-prefix /no/such/x"),
        ),
        ({"builtins": ["s"]}, refused("script-ambiguous", found="simple-update or select-only")),
        (
            {"builtins": ["sel@-1"], "pool": "per-scenario", "rate": "5", "duration": 1.0},
            refused("rate-without-script"),
        ),
        ({"steps": "2,4"}, refused("steps-without-time")),
        ({"steps": "2,4", "rate": "1,2", "duration": 1.0}, refused("steps-and-rate-vary")),
        ({"steps": "1s:2", "duration": 1.0}, refused("time-beside-stages")),
        (
            {"steps": "2,4", "clients": 3, "duration": 1.0},
            refused("options-exclude-each-other", other="-c"),
        ),
        ({"shuffle": True}, refused("shuffle-of-one-step")),
        (
            {"connect": True, "reconnect": "on-loss"},
            refused("options-exclude-each-other", other="--reconnect on-loss"),
        ),
        (
            {"exit_on_abort": True, "reconnect": "on-loss"},
            refused("options-exclude-each-other", other="--reconnect on-loss"),
        ),
        ({"interval": "10ms"}, refused("interval-form", "--interval 10ms")),
        ({"think_time": "0"}, refused("think-time-of-nothing", "--think-time 0")),
        ({"random_seed": "soon"}, refused("random-seed-form", "--random-seed soon")),
        ({"busy_poll": "2s"}, refused("busy-poll-form", "--busy-poll 2s")),
        ({"builtins": ["select@-2"]}, refused("own-connections-of-one-pool")),
        ({"builtins": ["select@-0.5"]}, refused("not-a-script-weight", weight="-0.5")),
        ({"builtins": ["select-only@one"]}, refused("not-a-script-weight", weight="one")),
        ({"builtins": ["select-only"] * 129}, refused("too-many-scripts", count=129, most=128)),
        ({"builtins": ["select@0", "tpcb@0"]}, refused("no-script-has-weight")),
        ({"define": ["x="]}, refused("define-form", "-D x=")),
        ({"define": ["1x=2"]}, refused("define-form", "-D 1x=2")),
        ({"random_seed": "18446744073709551616"}, refused("random-seed-form")),
    ],
)
def test_letters_that_contradict_are_refused_by_name(
    choices: dict[str, Any], expected: refused
) -> None:
    with expected:
        configuration(**choices)


def test_a_warm_up_of_no_length_is_none() -> None:
    assert len(configuration(warmup="0s", duration=1.0)["steps"]) == 1
    assert len(configuration(warmup="0", transactions=3)["steps"]) == 1


SLICES = """
length = "500ms"
[[variants]]
name = "plain"
[[variants]]
name = "no jit"
settings = { jit = false }
"""


def test_slices_come_from_a_file_of_their_own_or_from_an_experiment(tmp_path: Path) -> None:
    own, experiment = tmp_path / "slices.toml", tmp_path / "experiment.toml"
    own.write_text(SLICES)
    nested = SLICES.replace("[[variants]]", "[[load.slices.variants]]")
    experiment.write_text(f'question = "?"\n[load]\nclients = 7\n[load.slices]\n{nested}')
    for file in (own, experiment):
        found = configuration(slices=str(file), duration=5.0, warmup="1s")
        assert found["slices"]["schedule"] == [[0, 0.5], [1, 0.5]]
        assert [one["name"] for one in found["slices"]["variants"]] == ["plain", "no jit"]
        assert isinstance(_core.Load(json.dumps(found)), _core.Load)


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        (SLICES, {}, refused("slices-of-transactions")),
        (
            SLICES,
            {"duration": 0.9},
            refused("round-longer-than-any-step", "load.slices", "s.toml", round_s=1.0),
        ),
        (
            SLICES.replace("name", "nam", 1),
            {"duration": 5.0},
            refused("unknown-key", "variants.0.nam"),
        ),
        (
            SLICES.replace("jit", "shared_buffers"),
            {"duration": 5.0},
            refused("not-a-number-with-unit", "load.slices.variants.1.settings.shared_buffers"),
        ),
        (f'{SLICES}scenarios = ["x"]', {"duration": 5.0}, refused("no-scenario", name="x")),
        ("variants = [", {"duration": 5.0}, refused("not-toml", None, "s.toml")),
        ("[load]\nclients = 3", {"duration": 5.0}, refused("key-missing", "load.slices", "s.toml")),
    ],
)
def test_slices_that_will_not_do_are_refused_by_file_and_key(
    text: str,
    choices: dict[str, Any],
    expected: refused,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(text)
    with expected:
        configuration(slices="s.toml", **choices)


RANGE: dict[str, Any] = {"search": "p99 <= 5ms", "over": "rate", "lowest": 10.0, "highest": 20.0}


def searching(**given: Any) -> LoadOptions:
    return LoadOptions(**{"random_seed": "1", **RANGE, **given})


def test_a_search_needs_its_range() -> None:
    whole = {"over": "clients", "lowest": 1.0, "highest": 4.0, "within": "50%", "confidence": "0.9"}
    assert search_choices(searching(**whole)).levels == (1, 2, 3, 4)
    for wrong in (
        {"over": None}, {"lowest": None}, {"highest": 0.5}, {"within": "x"}, {"confidence": "2"},
        {"search": "p99"}, {"highest": 4.5},
    ):  # fmt: skip
        with pytest.raises(SpecError):
            search_choices(searching(**{**whole, **wrong}))


@pytest.mark.parametrize(
    ("choices", "option"),
    [
        ({"steps": "1,2"}, "--steps"),
        ({"rate": "5"}, "-R"),
        ({"log": True}, "-l"),
        ({"slices": "x.toml"}, "--slices"),
        ({"progress": 1.0}, "-P"),
        ({"report_per_command": True}, "-r"),
        ({"failures_detailed": True}, "--failures-detailed"),
        ({"interval": "1s"}, "--interval"),
        ({"intervals": Path("x.csv")}, "--intervals"),
        ({"transactions": 5}, "-t"),
    ],
)
def test_a_search_refuses_what_it_could_not_heed(choices: dict[str, Any], option: str) -> None:
    for over in ("rate", "clients"):
        with refused("options-exclude-each-other", option=option, other="--search"):
            search_choices(searching(over=over, **choices))


def test_a_search_heeds_clients_arrivals_and_its_own_warm_up() -> None:
    def probed(**given: Any) -> Any:
        options = searching(**given)
        found = probe_options(options, search_choices(options))
        return request_of(found, scenarios_of(found))

    by_rate = probed(clients=7, arrivals="constant")
    assert (by_rate.steps[-1].clients, by_rate.steps[-1].rate) == (7, 10.0)
    assert by_rate.arrivals == "constant"
    assert [step.duration_s for step in by_rate.steps] == [2.0, 10.0]
    assert [step.duration_s for step in probed(over="clients", warmup="0s").steps] == [10.0]
    with refused("options-exclude-each-other", other="--over clients"):
        probed(over="clients", clients=1)


def test_each_repetition_of_a_builtin_letter_adds_its_script() -> None:
    arguments = ["-S", "-NS", "-S"]
    given = load_command("load").make_context("load", arguments).params
    assert (given["select_only"], given["simple_update"]) == (3, 1)
    found = scenarios_of(LoadOptions(select_only=3, simple_update=1))
    assert [one.file for one in found] == ["select-only.sql"] * 3 + ["simple-update.sql"]


def test_pgbenchs_own_help_is_covered_option_by_option() -> None:
    try:
        pgbench = embedded_installation(18).bin_directory / "pgbench"
    except SpecError as error:
        pytest.skip(str(error))
    reported = subprocess.run(
        [pgbench, "--help"], capture_output=True, text=True, check=True
    ).stdout
    theirs = set(re.findall(r"^ {2,6}(?:(-\w|-\?), )?(--[a-z-]+)", reported, re.MULTILINE))
    flat = {name for pair in theirs for name in pair if name} - {"--help"}
    assert len(flat) > 60
    ours = {name for names in options().values() for name in names}
    assert flat - ours - set(replacements()) == set()
    assert ours & set(replacements()) == set()


def test_abbreviations_mean_what_they_mean_to_pgbench() -> None:
    command = load_command("load")
    context = typer.Context(command)
    options = {name: one for one in command.params for name in one.opts if name.startswith("--")}
    pgbench = {name for name, one in options.items() if one.rich_help_panel not in OUR_PANELS}
    pgbench = pgbench - {"--json"} | {name for name in replacements() if name.startswith("--")}
    for whole in pgbench & options.keys():
        for length in range(3, len(whole)):
            word = whole[:length]
            begun = {name for name in pgbench if name.startswith(word)}
            takes_value = not (options[whole].is_flag or options[whole].count)
            value = ["--"] if takes_value else []
            if word in pgbench:
                continue
            if begun == {whole}:
                found = command.written_out(context, [word, *value, "db"])
                assert found == [whole, *value, "db"]
                assert command.written_out(context, [f"{word}=1"]) == [f"{whole}=1"]
            else:
                with refused("option-ambiguous", name=word) as ambiguous:
                    command.written_out(context, [word])
                assert min(begun) in ambiguous.value.values["known"]
    for given, expected in (
        (["-f", "--prot", "--sh"], ["-f", "--prot", "--show-script"]),
        (["-Snc", "--prot", "-c4", "--warm"], ["-Snc", "--prot", "-c4", "--warmup"]),
        (["--", "--prot"], ["--", "--prot"]),
        (["--nothing"], ["--nothing"]),
    ):
        assert command.written_out(context, given) == expected


def test_every_option_and_every_key_is_documented() -> None:
    words = set(code_spans(DOCS))
    named = {name for names in options().values() for name in names} | set(replacements())
    missing = {name for name in named if name not in words}
    assert missing == set(), "docs/load.md does not say what these options do"
    keys = {f"load.{name}" for name in LoadTable.model_fields}
    assert keys - words == set(), "docs/load.md does not say what these keys do"
