"""Every kind of factor: how a file writes it, what an arm runs, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgassay.errors import SpecError
from pgassay.plan.design import make_plan
from pgassay.plan.store import plan_from_json, plan_to_json
from pgassay.refusals.refusal import Refusal
from pgassay.spec.arms import schema_of_arm, spec_of_arm
from pgassay.spec.experiment import Spec
from pgassay.spec.factors.tables import file_names
from pgassay.spec.parse import load_spec, parse_spec
from pgassay.spec.stored import materials_to_json
from pgassay.trials.load.engine import as_the_client
from pgassay.trials.run.refusals.loads import check_load
from pgassay.trials.run.testbeds import testbeds_of
from support.refusals import refused
from support.runs.command import shop_workload
from support.synthetic.connection import CONNECTION

EXISTING = "[target]\ndsn = 'host=/tmp dbname=lab'\nallow_changes = true\n"
INDEX = """
[factors.schema.index]
none = ""
"b-tree, 'große' / 1" = "CREATE INDEX ON account (branch, :scale)"
"""


def parsed(text: str, beside: Path = Path()) -> Spec:
    return parse_spec(text + "\n[design]\nseed = 1", source="lab.toml", beside=beside)


def arms_of(spec: Spec) -> list[Spec]:
    return [spec_of_arm(spec, arm.by_kind) for arm in make_plan(spec).arms]


def test_a_variant_needs_no_undo_where_each_trial_has_a_copy_of_the_data() -> None:
    spec = parsed(EXISTING + "[reset]\nlevel = 'snapshot'\n" + INDEX)
    assert len(make_plan(spec).arms) == 2


def test_an_arm_can_have_levels_of_all_kinds_and_is_stored_with_them() -> None:
    spec = parsed(
        "[factors.target]\nversion = [16, 18]\n[factors.workload]\nscale = [1, 10]\n"
        "[factors.weights]\nbalance = [1, 5]\n[factors.client]\nprotocol = ['simple', 'prepared']\n"
        "[factors.client.settings]\nwork_mem = ['4MB', '8MB']\n"
        "[factors.postgres]\nfsync = [true, false]\n" + INDEX
    )
    plan = make_plan(spec)
    assert len(plan.arms) == 2**7
    last = plan.arms[-1]
    assert last.by_kind == {
        "target": {"version": "18"},
        "workload": {"scale": "10"},
        "schema": {"index": "b-tree, 'große' / 1"},
        "weights": {"weight of balance": "5"},
        "client": {"protocol": "prepared"},
        "client.settings": {"work_mem": "8MB"},
        "postgres": {"fsync": "off"},
    }
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan
    one = spec_of_arm(spec, last.by_kind)
    assert one.file.workload.scale == 10
    assert one.file.load.protocol == "prepared"
    assert one.file.load.settings == {"work_mem": "8MB"}
    assert [s.weight for s in one.workload.scenarios if s.name == "balance"] == [5.0]
    made = schema_of_arm(spec, last.by_kind)
    assert made["index"].sql == "CREATE INDEX ON account (branch, 10)"
    first = spec_of_arm(spec, plan.arms[0].by_kind)
    assert schema_of_arm(spec, plan.arms[0].by_kind) == {}
    assert (first.file.workload.scale, first.file.load.protocol) == (1, "simple")


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["/usr/lib/postgresql/15/bin", "/opt/patched/bin"], ["15", "patched"]),
        (["/opt/a/pg/bin", "/opt/b/pg/bin"], ["a/pg", "b/pg"]),
        ([16, 18, "/usr/lib/postgresql/16/bin"], ["embedded 16", "embedded 18", "16"]),
        (["transfer.sql", "sub/transfer.sql"], ["transfer", "sub/transfer"]),
        (["", "a b/c'd.sql"], ["unchanged", "c'd"]),
        (["payments-read", "./mine"], ["payments-read", "mine"]),
    ],
)
def test_a_path_is_named_by_the_shortest_ending_that_differs(
    values: list[str], names: list[str]
) -> None:
    assert file_names(values) == names


@pytest.mark.parametrize(
    ("text", "code", "key"),
    [
        (
            "[factors.client]\nthreads = [1, 2]\n[load]\nthreads = 1",
            "given-twice",
            "factors.client.threads",
        ),
        ("[factors.client]\nsslmode = ['disable', 'require']", "no-tls", "factors.client.sslmode"),
        ("[load]\nsslmode = 'require'", "no-tls", "load.sslmode"),
        (
            "[factors.client.settings]\nshared_buffers = ['1GB', '2GB']",
            "setting-not-of-session",
            "factors.client.settings.shared_buffers",
        ),
        (
            "[factors.client.settings]\nwork_mem = ['1MB', 'x']",
            "not-a-number-with-unit",
            "factors.client.settings.work_mem",
        ),
        (
            "[factors.client.settings]\nwork_mem = ['1MB']",
            "too-few-levels",
            "factors.client.settings.work_mem",
        ),
        (
            "[factors.client.settings]\nwork_mem = [1, 2]\n[settings.postgres]\nwork_mem = '4MB'",
            "session-and-server",
            "factors.client.settings.work_mem",
        ),
        (
            "[factors.client.settings]\njit = [1, 0]\n[factors.postgres]\njit=[1, 0]",
            "names-alike",
            "factors.postgres.jit",
        ),
        (
            "[factors.target]\nversion = [16, 18]\n[target]\nversion = 16",
            "server-held-and-varied",
            "factors.target.version",
        ),
        (
            "[factors.target]\nversion = [16, 18]\n[settings.postgres]\nio_method = 'sync'",
            "setting-unknown",
            "settings.postgres.io_method",
        ),
        (
            "[factors.target]\nversion = [18, 16]\n[factors.postgres]\nio_workers = [1, 2]",
            "setting-unknown",
            "factors.postgres.io_workers",
        ),
        (
            EXISTING + "[factors.target]\nversion = [15, 18]\n[reset]\nlevel = 'vacuum'",
            "reset-of-varied-copies",
            None,
        ),
        (
            "[factors.target]\nversion = [16, 18]\nhow = 'dump'",
            "upgrade-of-no-server",
            "factors.target.how",
        ),
        (
            EXISTING + "[factors.workload]\nscale = [1, 2]",
            "several-datasets",
            "factors.workload.scale",
        ),
        (
            EXISTING + "[factors.workload]\nuse = ['payments', 'pgbench']",
            "several-datasets",
            "factors.workload.use",
        ),
        (
            EXISTING + "[factors.schema]\ni.a = ''\ni.b = 'SELECT 1'",
            "schema-without-undo",
            "factors.schema.i",
        ),
        (
            "[target]\ndsn = 'host=/tmp'\n[factors.schema]\ni.a = ''\ni.b = 'SELECT 1'",
            "schema-without-permission",
            "factors.schema.i",
        ),
        (
            "[factors.workload]\nuse = ['payments', 'payments-read']\n[workload]\nuse = 'payments'",
            "also-given-as",
            "factors.workload.use",
        ),
        ("[factors.weights]\ntransfr = [1, 2]", "factor-of-no-scenario", "factors.weights.transfr"),
        ("[factors.weights]\ntransfer = [1, -2]", "own-connections", "load.pools"),
        ("[factors.schema.i]\na = ''\nb = ' '", "equal-levels", "factors.schema.i"),
        (
            "[factors.schema.i]\na = ''\nb = \"CREATE ROLE x PASSWORD 'geheim'\"",
            "password-in-file",
            None,
        ),
    ],
)
def test_factors_that_cannot_work_are_refused_by_code_and_key(
    text: str, code: str, key: str | None
) -> None:
    with pytest.raises(Refusal) as caught:
        parsed(text)
    assert (caught.value.code, caught.value.key) == (code, key)
    assert caught.value.file == "lab.toml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[factors.client]\nclients = [1, 2]", refused("load-is-no-factor", key="clients")),
        ("[factors.client]\nrate = [1, 2]", refused("load-is-no-factor", key="rate")),
        (
            "[factors.client]\nprotocl = [1, 2]",
            refused("unknown-key", near="did you mean protocol?"),
        ),
        (
            "[factors.client]\nprotocol = ['simple', 'fast']",
            refused("not-one-of", "factors.client.protocol", "lab.toml", value="'fast'"),
        ),
        (
            "[factors.client]\nthreads = [1, 0]",
            refused("not-of-its-type", "factors.client.threads"),
        ),
        ("[factors.client]\nthreads = [2]", refused("too-few-levels")),
        ("[factors.client]\nthreads = [2, 2]", refused("equal-level-twice", name="2")),
        ("[factors.client]\nthreads = {a = 1, b = 2}", refused("levels-not-a-list")),
        (
            "[factors.client]\nthreads = [1, 2]\n[load]\ncommand = ['true']",
            refused("not-with-command"),
        ),
        (
            "[factors.target]\nversion = [16, 17]",
            refused("version-not-embedded", "factors.target.version", major=17),
        ),
        (
            "[factors.target]\nversion = [16, 18]\nbin = ['/a/b/bin', '/c/d/bin']",
            refused("version-and-bin"),
        ),
        ("[factors.workload]\nuse = ['payments', 'paymnets-read']", refused("no-such-workload")),
        (
            "[factors.scenarios]\ntransfr = ['', 'x.sql']",
            refused("no-such-script", script="'x.sql'"),
        ),
        (
            "[factors.weights]\ntransfer = [1, 0]",
            refused("weight-form", "factors.weights.transfer"),
        ),
        ("[factors.schema.i]\na = ''\nb = 'gone.sql'", refused("no-file", name="'gone.sql'")),
        ("[factors.schema.i]\na = ''\n\"b\\n\" = 'x'", refused("level-without-name")),
        ("[factors.schema]\ni = ['none', 'CREATE …']", refused("level-is-no-sql", text="'none'")),
        (
            "[factors.schema]\ni = ['no index', 'CREATE …']",
            refused("level-is-no-sql", "factors.schema.i", text="'no index'"),
        ),
        ("[factors.schema.i]\na = ''\nb = {sq = 'x'}", refused("unknown-key")),
    ],
)
def test_impossible_factors_are_refused_with_their_key(text: str, expected: refused) -> None:
    with expected:
        parsed(text)


def test_a_file_of_sql_with_a_password_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1;\nCREATE ROLE x PASSWORD 'geheim';")
    with refused("password-in-script", line=2) as caught:
        parsed("[factors.schema]\ni = ['', 'a.sql']", tmp_path)
    assert "geheim" not in str(caught.value)


def test_scripts_of_a_scenario_are_read_beside_the_file_and_kept_with_the_run(
    tmp_path: Path,
) -> None:
    other = tmp_path / "my scripts" / "über 'alles'.sql"
    other.parent.mkdir()
    other.write_text("SELECT 1;")
    text = (
        "[factors.scenarios]\nbalance = ['', \"my scripts/über 'alles'.sql\"]\n[design]\nseed = 1\n"
    )
    spec = parse_spec(text, source="lab.toml", beside=tmp_path)
    assert [arm.label for arm in make_plan(spec).arms] == [
        "balance = unchanged",
        "balance = über 'alles'",
    ]
    scripts = [one.workload.scenarios[-1].script for one in arms_of(spec)]
    assert scripts[1] == "SELECT 1;" != scripts[0]
    run = tmp_path / "run"
    run.mkdir()
    (run / "spec.toml").write_text(text)
    (run / "plan.json").write_text("{}")
    stored = materials_to_json(spec)
    (run / "workload.json").write_text(json.dumps(stored))
    other.unlink()
    again = load_spec(run / "spec.toml")
    assert (again.workload, again.variants) == (spec.workload, spec.variants)
    assert make_plan(again) == make_plan(spec)


def test_a_syntax_error_in_one_arms_script_is_found_before_the_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.sql").write_text("\\set x nonsense(\nSELECT :x;")
    spec = parsed("[factors.scenarios]\nbalance = ['', 'bad.sql']", tmp_path)
    with pytest.raises(SpecError, match=r"bad\.sql"):
        check_load(spec)


def test_no_think_time_can_be_a_level() -> None:
    spec = parsed("[factors.client]\nthink_time = [0, '10ms']")
    loads = [one.file.load.think_time for one in arms_of(spec)]
    assert loads[0] is None
    assert loads[1] is not None
    assert loads[1].mean_s == 0.01


def test_arms_share_a_testbed_if_server_data_and_schema_are_the_same() -> None:
    spec = parsed(
        "[factors.target]\nversion = [16, 18]\n[factors.workload]\n"
        "use = ['payments-read', 'payments-write', 'pgbench']\n" + INDEX
    )
    testbeds = testbeds_of(spec, make_plan(spec))
    assert len(testbeds.of_arm) == 12
    assert len(set(testbeds.of_arm.values())) == 2 * 2 * 2
    assert sorted({(g.server, g.data) for g in testbeds.datasets}) == [
        ("16", ""), ("16", "pgbench at scale 1"), ("18", ""), ("18", "pgbench at scale 1"),
    ]  # fmt: skip
    assert all(len(variants) == 1 for variants in testbeds.variants.values())
    assert testbeds.are_several
    plain = parsed("[factors.client]\nthreads = [1, 2]" + INDEX)
    assert not testbeds_of(plain, make_plan(plain)).are_several


def test_session_settings_with_special_characters_reach_the_sessions() -> None:
    spec = parsed("[load.settings]\nsearch_path = 'a b, \"c\\d\"'\njit = false")
    found = as_the_client(CONNECTION, spec.file.load)
    assert found.startup == {"search_path": 'a b, "c\\d"', "jit": "off"}
    # A program of the user's gets them by libpq.
    assert found.all_options == '-c x=1 -c search_path=a\\ b,\\ "c\\\\d" -c jit=off'


def test_workload_folders_of_the_same_name_have_separate_data(tmp_path: Path) -> None:
    for folder in "abc":
        (tmp_path / folder).mkdir()
        workload = shop_workload(tmp_path / folder, "SELECT 1;")
        schema = workload / "schema.sql"
        schema.write_text(f"{schema.read_text()}\n-- {folder}\n")
    levels = ", ".join(f'{folder} = "{folder}/{workload.name}"' for folder in "abc")
    spec = parse_spec(
        f"[factors.workload]\nuse = {{ {levels} }}\n", source="lab.toml", beside=tmp_path
    )
    testbeds = testbeds_of(spec, make_plan(spec))
    assert len(set(testbeds.of_arm.values())) == 3
    assert len({dataset.name for dataset in testbeds.datasets.values()}) == 3
