"""An experiment file is accepted whole, or refused with file, key and fix."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from pgassay.plan.design import make_plan
from pgassay.refusals.refusal import Refusal
from pgassay.spec.experiment import Spec
from pgassay.spec.model import ExperimentFile
from pgassay.spec.parse import load_spec, parse_spec
from pgassay.spec.stored import materials_to_json
from pgassay.spec.workload.folder import Workload, WorkloadFile
from pgassay.stored_model import dataclass_of
from pgassay.trials.run.refusals.loads import check_load
from support.json_schema import keys_of
from support.load.workloads_page import write_example
from support.refusals import refused
from support.runs.command import shop_workload

DOCS = Path(__file__).parents[3] / "docs"


def parsed(text: str) -> Spec:
    return parse_spec(text, source="lab.toml", beside=Path())


def test_without_factors_there_is_one_arm_on_the_embedded_server() -> None:
    spec = parsed("")
    assert spec.file.factors.postgres == {}
    assert spec.workload.name == "payments-write"
    assert spec.file.load.clients == (8,)


def test_units_and_lists_are_read_in_every_form() -> None:
    spec = parsed(
        """
        [factors.postgres]
        checkpoint_timeout = ["1min", 900]
        full_page_writes = [true, false]
        [load]
        clients = [5, 8]
        step = "1.5min"
        warmup = 3
        [design]
        smallest_effect = "2.5%"
        """
    )
    assert spec.file.factors.postgres["checkpoint_timeout"] == ("1min", "900")
    assert spec.file.factors.postgres["full_page_writes"] == ("on", "off")
    assert spec.file.load.clients == (5, 8)
    assert spec.file.load.step == 90.0
    assert spec.file.load.warmup == 3.0
    assert spec.file.design.smallest_effect == pytest.approx(0.025)


def test_names_of_settings_ignore_case() -> None:
    spec = parsed(
        """
        [settings.postgres]
        Work_Mem = "8MB"
        timezone = "UTC"
        "Auto_Explain.log_analyze" = true
        [factors.postgres]
        DATESTYLE = ["ISO", "SQL"]
        [factors.client.settings]
        JIT = ["on", "off"]
        [load.settings]
        intervalstyle = "iso_8601"
        """
    )
    assert spec.file.settings.postgres == {
        "work_mem": "8MB", "TimeZone": "UTC", "Auto_Explain.log_analyze": "on",
    }  # fmt: skip
    assert list(spec.file.factors.postgres) == ["DateStyle"]
    assert list(spec.file.factors.client.settings) == ["jit"]
    assert spec.file.load.settings == {"IntervalStyle": "iso_8601"}


@pytest.mark.parametrize(
    ("text", "code", "key"),
    [
        (
            "[settings.postgres]\nwork_mem = '8MB'\n[factors.postgres]\nWork_Mem = ['5MB', '6MB']",
            "given-twice",
            "factors.postgres.work_mem",
        ),
        (
            "[factors.postgres]\nmax_wal_siz = ['1GB', '2GB']",
            "setting-unknown",
            "factors.postgres.max_wal_siz",
        ),
        (
            "[factors.postgres]\nmax_wal_size = ['1gb', '2GB']",
            "unit-misspelt",
            "factors.postgres.max_wal_size",
        ),
        (
            "[factors.postgres]\nmax_wal_size = ['1GB', '1024MB']",
            "equal-levels",
            "factors.postgres.max_wal_size",
        ),
        (
            "[factors.postgres]\nmax_wal_size = ['1GB']",
            "too-few-levels",
            "factors.postgres.max_wal_size",
        ),
        ("[factors.postgres]\njit = ['maybe', 'on']", "not-a-boolean", "factors.postgres.jit"),
        (
            "[factors.postgres]\nwal_level = ['minimum', 'logical']",
            "not-a-word-of-the-setting",
            "factors.postgres.wal_level",
        ),
        (
            "[settings.postgres]\nrandom_page_cost = '2ms'",
            "number-without-unit",
            "settings.postgres.random_page_cost",
        ),
        ("[settings.postgres]\nblock_size = 8192", "setting-fixed", "settings.postgres.block_size"),
        ("[settings.postgres]\nport = 1", "setting-cannot-vary", "settings.postgres.port"),
        (
            "[factors.postgres]\nfsync = ['on', 'off']\n[settings.postgres]\nfsync = 'on'",
            "given-twice",
            "factors.postgres.fsync",
        ),
        (
            "[target]\nversion = 16\n[factors.postgres]\nio_method = ['sync', 'worker']",
            "setting-unknown",
            "factors.postgres.io_method",
        ),
        ("[load]\ncommand = ['sh', '-c', 'PGPASSWORD=canary pgbench']", "password-in-file", None),
        ("[settings.postgres]\nprimary_conninfo = 'password=canary'", "password-in-file", None),
        (
            "[settings.postgres]\n'my.api_key' = 'canary'",
            "setting-is-secret",
            "settings.postgres.my.api_key",
        ),
        ("# postgres://u:canary@h/d", "password-in-file", None),
    ],
)
def test_tables_that_do_not_fit_are_refused_by_code_and_key(
    text: str, code: str, key: str | None
) -> None:
    with pytest.raises(Refusal) as caught:
        parsed(text)
    assert (caught.value.code, caught.value.key) == (code, key)
    assert str(caught.value).startswith("lab.toml: ")
    assert "\n" not in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "qestion = 'x'",
            refused("unknown-key", "qestion", "lab.toml", near="did you mean question?"),
        ),
        (
            "[load]\nclints = 3",
            refused("unknown-key", "load.clints", "lab.toml", near="did you mean clients?"),
        ),
        ("[load]\nclints = 3\nthread = 1\nrat = 2", refused("unknown-key")),
        ("[load]\nclients = 0", refused("not-of-its-type", "load.clients", "lab.toml")),
        ("[load]\nclients = [4, 0]", refused("not-of-its-type", "load.clients.1", value="0")),
        (
            "[load]\nclients = 2.5",
            refused("not-of-its-type", "load.clients", "lab.toml", value="2.5"),
        ),
        ("[load]\nstep = '10ss'", refused("unit-unknown", "load.step", "lab.toml", suffix="ss")),
        ("[load]\nstep = '10sec'", refused("unit-misspelt", "load.step", near="s")),
        ("[load]\nstep = '2m'", refused("unit-misspelt", "load.step", suffix="m", near="min")),
        (
            "[settings.postgres]\nwork_mem = '4M'",
            refused("unit-misspelt", "settings.postgres.work_mem", near="MB"),
        ),
        ("load = 3", refused("value-for-a-table", "load", "lab.toml", value="3", name="load")),
        (
            "workload = 'payments'",
            refused("value-for-a-table", "workload", keys="use, scale, queries, setup, writes"),
        ),
        (
            "[workload]\nname = 'payments'",
            refused("unknown-key", "workload.name", near="did you mean use?"),
        ),
        ("[load]\nduration = 9", refused("unknown-key", near="did you mean step?")),
        ("[workload]\nuse = 'payments\n", refused("text-without-quotes", line=2)),
        ("a b", refused("not-toml", None, "lab.toml")),
        (
            "[settings.postgres]\nwork_mem = '8MB'\nWORK_MEM = '9MB'",
            refused(
                "setting-twice", "settings.postgres", "lab.toml", before="work_mem", name="WORK_MEM"
            ),
        ),
        ("[factors.postgres]\nmax_wal_size = '1GB'", refused("levels-not-a-list")),
        (
            "[load]\nclients = '5..22'",
            refused("range-without-steps", "load.clients", "lab.toml", given="5..22"),
        ),
        ("[load]\nclients = '30s:5'", refused("stages-as-clients", "load.clients")),
        ("[load]\nstages = '30s'", refused("not-a-stage", "load.stages", "lab.toml", stage="30s")),
        ("[load]\nstages = '9s:5'\nstep = 3", refused("beside-stages", "load")),
        ("[load]\nclients = [3, 3]", refused("steps-repeated")),
        (
            "[load]\nclients = [3, 4]\nrate = [1, 2]",
            refused("clients-and-rate-vary"),
        ),
        ("[load]\narrivals = 'constant'", refused("arrivals-without-rate", "load", "lab.toml")),
        (
            "[load]\nthink_time = '9ms:normal'",
            refused("think-time-unknown", "load.think_time", kind="normal"),
        ),
        (
            "[load]\npools = 'own'",
            refused("not-one-of", "load.pools", value="'own'", known="'shared' or 'per_scenario'"),
        ),
        (
            "[design]\nmetric = 'p99'",
            refused(
                "not-one-of", "design.metric", near="did you mean latency_p99 or response_p99?"
            ),
        ),
        (
            "[sampling]\nwaits = '10ms'",
            refused(
                "not-of-its-type",
                "sampling.waits",
                value="'10ms'",
                wanted="greater than or equal to 0.02 s",
            ),
        ),
        (
            "[load]\nthroughput = { json = 'a' }",
            refused("not-without-command", "load", key="throughput"),
        ),
        (
            "[load]\ncommand = 'k6'",
            refused("not-of-its-type", "load.command", "lab.toml", value="'k6'", wanted="a list"),
        ),
        (
            "[load]\ncommand = ['k6']\nthreads = 2",
            refused("not-with-command", "load", key="threads"),
        ),
        ("[load]\ncommand = ['k6']\nwarmup = 2", refused("warmup-of-a-command", "load")),
        ("[load]\nwarmup = '0s'", refused("warmup-of-nothing", "load.warmup")),
        ("[load]\nwarmup = 0", refused("warmup-of-nothing")),
        (
            "[load]\ncommand = ['k6']\nthroughput = { json = 'a', pattern = '(b)' }",
            refused("json-or-pattern", "load.throughput", "lab.toml"),
        ),
        (
            "[load]\ncommand = ['k6']\nthroughput = { jsn = 'a' }",
            refused("unknown-key", "load.throughput.jsn", "lab.toml", near="did you mean json?"),
        ),
        (
            "[load]\ncommand = ['k6']\nthroughput = { pattern = 'tps' }",
            refused("pattern-without-group", "load.throughput.pattern"),
        ),
        (
            "[load]\ncommand = ['k6']\nlatency = { hdr_log = 'x' }",
            refused("unit-without-hdr-log", "load.latency"),
        ),
        (
            "[target]\nversion = 18\ndsn = ''",
            refused("exclude-each-other", given="version and dsn"),
        ),
        ("[target]\nallow_changes = true", refused("not-without-server", key="allow_changes")),
        (
            "[target]\naccept = ['slots']",
            refused("not-without-server", key="accept", wanted="dsn too"),
        ),
        (
            "[target]\ndsn = 'host=h'\naccept = ['slots', 'replica']",
            refused("no-such-sign", "target.accept", name="replica", near="did you mean replicas?"),
        ),
        (
            "[target]\ndsn = ['postgres://u:canary@h/d']",
            refused("not-of-its-type", value="['postgres://u:***@h/d']"),
        ),
        ("[target]\ndsn = 'postgres://u:p@h/d'", refused("password-in-value")),
        ("[target]\ndsn = 'postgresql://u@h/d?password=p'", refused("password-in-value")),
        ("[target]\ndsn = 'host=h sslpassword=p'", refused("password-in-value")),
        ("[target]\ndsn = 'not a dsn'", refused("not-a-connection-string", "target.dsn")),
        (
            "[target]\ndsn = 'host=h prot=5432'",
            refused("unknown-word-of-connection", "target.dsn", word="prot"),
        ),
        (
            "[target]\ndsn = 'postgres://h/db?sslmode=require&sslsin=1'",
            refused(
                "unknown-word-of-connection",
                "target.dsn",
                word="sslsin",
                near="did you mean sslsni?",
            ),
        ),
        (
            "[target]\ndsn = 'postgres://u:canary?x=1@h/db?prot=1&x@y'",
            refused("not-a-connection-string", "target.dsn"),
        ),
        ("[target]\nversion = 17", refused("version-not-embedded", "target.version", major=17)),
        (
            "[factors]\nwal_compression = ['off', 'lz4']",
            refused(
                "key-of-another-table",
                "factors.wal_compression",
                meant="factors.postgres.wal_compression",
            ),
        ),
        (
            "[factors]\nindex = ['', 'CREATE INDEX i ON t (c)']",
            refused("key-of-another-table", meant="factors.schema.index"),
        ),
        (
            "[factors]\nthreads = [1, 2]",
            refused("key-of-another-table", meant="factors.client.threads"),
        ),
        ("work_mem = '8MB'", refused("key-of-another-table", meant="settings.postgres.work_mem")),
        ("jit = [1, 0]", refused("key-of-another-table", meant="factors.postgres.jit")),
        (
            "[load]\nWork_Mem = '8MB'",
            refused("key-of-another-table", meant="load.settings.Work_Mem"),
        ),
        (
            "[design]\nstep = '9s'",
            refused("key-of-another-table", "design.step", meant="load.step"),
        ),
        ("clients = 8", refused("key-of-another-table", "clients", meant="load.clients")),
        (
            "[postgres]\njit = 'on'",
            refused("key-of-another-table", meant="factors.postgres or settings.postgres"),
        ),
        ("[load]\nstep = 30s", refused("text-without-quotes", None, line=2, word="'30s'")),
        (
            "[factors.postgres]\nwork_mem = ['4MB', 64MB] # two",
            refused("text-without-quotes", line=2, word="'64MB'"),
        ),
        ("[load]\nstep = 30s\nx ==", refused("not-toml")),
        ("[load]\nstep = '1e400s'", refused("number-too-long", "load.step")),
        ("[workload]\nuse = '~nobody-here/x'", refused("no-such-workload", "workload.use")),
        ("[workload]\nuse = 'payments-wite'", refused("no-such-workload")),
        ("[design]\nmin_blocks = 8\nmax_blocks = 7", refused("blocks-reversed", most=7, least=8)),
        ("[design]\nsmallest_effect = '2'", refused("share-form")),
        (
            "[design]\nsmallest_effect = 2",
            refused("share-above-one", "design.smallest_effect", value=2, share=0.02),
        ),
        (
            "[factors.vm]\nswappiness = [1, 2]",
            refused("key-of-another-table", "factors.vm", meant="factors.host.vm"),
        ),
    ],
)
def test_every_mistake_is_one_line_with_file_and_key(text: str, expected: refused) -> None:
    with expected as caught:
        parsed(text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("lab.toml")


def test_a_load_is_shaped_by_ranges_stages_and_rates() -> None:
    def steps(text: str) -> list[tuple[int, float, float | None]]:
        drawn = make_plan(parsed(f"[load]\n{text}")).steps
        return [(s.clients, s.duration_s, s.rate) for s in drawn if s.measured]

    assert steps("clients = '5..22 log 6'\nstep = 9") == [
        (clients, 9, None) for clients in (5, 7, 9, 12, 16, 22)
    ]
    assert steps("stages = '30s:10,2m:50'") == [(10, 30, None), (50, 120, None)]
    assert steps("clients = 3\nstep = 1\nrate = [100, 200.5]") == [(3, 1, 100), (3, 1, 200.5)]
    assert steps("clients = [1, 2]\nstep = 1\nrate = 10") == [(1, 1, 10), (2, 1, 10)]
    plan = make_plan(parsed("[load]\nrate = '100..400 log 3'"))
    assert plan.step_unit == "tps asked"
    assert plan.step_levels() == (100, 200, 400)


def test_load_command_has_a_warm_up_only_with_warmup_command() -> None:
    own = "[load]\ncommand = ['k6', 'run']\n"
    assert [s.measured for s in make_plan(parsed(own)).steps] == [True]
    warm = own + "warmup_command = ['k6', 'warm']\nwarmup = 3"
    assert [s.duration_s for s in make_plan(parsed(warm)).steps] == [3, 60]


def test_a_negative_weight_needs_pools_per_scenario(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    table = "title = 's'\n[scenarios]\nbuy = { file = 'b.sql', weight = -2 }\n"
    (folder / "workload.toml").write_text(table)
    for name in ("schema.sql", "data.sql", "b.sql"):
        (folder / name).write_text("")
    (tmp_path / "lab.toml").write_text("[workload]\nuse = 'shop'\n")
    with refused("own-connections", "load.pools", name="buy", weight=-2.0):
        load_spec(tmp_path / "lab.toml")
    text = "[workload]\nuse = 'shop'\n[load]\npools = 'per_scenario'\n"
    (tmp_path / "lab.toml").write_text(text)
    assert load_spec(tmp_path / "lab.toml").workload.scenarios[0].weight == -2
    for wrong in ("-0.5", "0", "inf"):
        (folder / "workload.toml").write_text(table.replace("-2", wrong))
        with refused("weight-form"):
            load_spec(tmp_path / "lab.toml")


def test_a_file_without_a_workload_is_refused_with_an_example(tmp_path: Path) -> None:
    file = tmp_path / "lab.toml"
    for text in ("", "[workload]\nscale = 5\n"):
        file.write_text(text)
        with refused("no-workload", "workload.use"):
            load_spec(file)
    file.write_text("[factors.workload]\nuse = ['payments-read', 'payments-write']\n")
    assert load_spec(file).workload.name == "payments-read"


def test_the_example_of_the_workloads_page_is_a_complete_experiment(tmp_path: Path) -> None:
    spec = load_spec(write_example(tmp_path))
    assert spec.workload.name == "smallbank"
    assert [scenario.weight for scenario in spec.workload.scenarios] == [15, 15, 15, 15, 25, 15]
    check_load(spec)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with refused("file-missing"):
        load_spec(tmp_path / "nowhere.toml")
    with refused("folder-for-a-file"):
        load_spec(tmp_path)


def test_files_with_names_like_a_missing_ones_are_named(tmp_path: Path) -> None:
    for name in ("payments.toml", "payments.sql", "stock.toml", "a.toml", "b.toml"):
        (tmp_path / name).touch()
    with refused("file-missing", near="did you mean payments.toml?"):
        load_spec(tmp_path / "paymnets.toml")
    with refused("file-missing", near=""):
        load_spec(tmp_path / "x.toml")


def test_a_workload_folder_is_found_relative_to_the_spec(tmp_path: Path) -> None:
    shop_workload(tmp_path, "SELECT 1;", weight=3)
    (tmp_path / "lab.toml").write_text("[workload]\nuse = 'shop'\nscale = 7\n")
    spec = load_spec(tmp_path / "lab.toml")
    assert spec.workload.scenarios[0].weight == 3.0
    assert spec.workload.building_sql(7)[1].endswith("generate_series(1, 7);")


def test_a_workload_with_a_missing_script_names_the_script(tmp_path: Path) -> None:
    (shop_workload(tmp_path, "SELECT 1;") / "buy.sql").unlink()
    (tmp_path / "lab.toml").write_text("[workload]\nuse = 'shop'\n")
    with refused("no-file", "scenarios.buy.file", str(tmp_path / "shop" / "workload.toml")):
        load_spec(tmp_path / "lab.toml")


def test_a_mistake_says_how_many_others_there_are() -> None:
    with refused("unknown-key") as caught:
        parsed("[load]\nclints = 3\nthread = 1\nrat = 2")
    assert " 2 more errors " in caught.value.excerpt


def test_a_check_whose_file_is_missing_is_one_line_with_file_and_key(tmp_path: Path) -> None:
    folder = shop_workload(tmp_path, "SELECT 1;")
    with (folder / "workload.toml").open("a") as file:
        file.write("[checks]\nno-debt = 'no-debt.sql'\n")
    (tmp_path / "lab.toml").write_text("[workload]\nuse = 'shop'\nscale = 3\n")
    with refused("no-file", "checks.no-debt", str(folder / "workload.toml")):
        load_spec(tmp_path / "lab.toml")
    (folder / "no-debt.sql").write_text("SELECT id FROM item WHERE id > :scale")
    workload = load_spec(tmp_path / "lab.toml").workload
    (check,) = workload.checks_at(3)
    assert (check.name, check.sql) == ("no-debt", "SELECT id FROM item WHERE id > 3")
    assert dataclass_of(Workload, json.loads(json.dumps(asdict(workload)))) == workload


def test_a_seed_is_drawn_unless_the_file_has_one() -> None:
    assert parsed("[design]\nseed = 12").seed == 12
    assert len({parsed("").seed for _ in range(5)}) > 1


def test_every_key_of_the_published_schema_is_described_and_documented() -> None:
    page = (DOCS / "experiment-file.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `([\w.]+)` \|", page, re.MULTILINE))
    schema = json.loads(json.dumps(ExperimentFile.model_json_schema()))
    found = dict(keys_of(schema, schema["$defs"]))
    assert documented == set(found)
    undescribed = [key for key, described in found.items() if not described]
    assert [key for key in undescribed if not key.startswith("factors.client.")] == []
    workload = WorkloadFile.model_json_schema()
    page = (DOCS / "workloads.md").read_text("utf-8")
    for key, _ in keys_of(workload, workload["$defs"]):
        assert f"`{key.replace('scenarios.', 'scenarios.NAME.')}`" in page


def test_the_published_schema_takes_durations_and_ranges_as_text() -> None:
    schema = ExperimentFile.model_json_schema()
    load = schema["$defs"]["LoadTable"]["properties"]
    assert load["step"]["type"] == ["string", "number"]
    assert {"type": "string"} in load["clients"]["anyOf"]
    assert schema["additionalProperties"] is False


def test_a_stored_run_is_read_with_its_stored_scripts(tmp_path: Path) -> None:
    spec = replace(
        parsed("[workload]\nuse = 'payments'\n[design]\nseed = 5\n"), folder=Path("/lab")
    )
    (tmp_path / "spec.toml").write_text(spec.text.replace("'payments'", "'gone'"))
    stored = materials_to_json(spec)
    (tmp_path / "workload.json").write_text(json.dumps(stored))
    with refused("no-such-workload", name="'gone'"):
        load_spec(tmp_path / "spec.toml")
    (tmp_path / "plan.json").write_text("{}")
    again = load_spec(tmp_path / "spec.toml", seed=9)
    assert again.workload == spec.workload
    assert again.seed == 9
    assert again.folder == Path("/lab")
    (tmp_path / "workload.json").write_text("{}")
    with refused("stored-key-missing", None, str(tmp_path / "workload.json"), place="schema"):
        load_spec(tmp_path / "spec.toml")
