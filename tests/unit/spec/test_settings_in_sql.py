"""Functions of the workload's files that set what the experiment varies."""

from __future__ import annotations

import pytest

from pgassay.spec.workload.settings_in_sql import functions_in, settings_in, with_functions

SCHEMA = """CREATE TABLE t (i int);
CREATE FUNCTION quiet() RETURNS int LANGUAGE plpgsql AS $body$ BEGIN RETURN 1; END $body$ STABLE;
SET work_mem = '1GB';
CREATE INDEX ON t (i);
"""
DATA = """CREATE FUNCTION loud() RETURNS int LANGUAGE plpgsql AS $$
BEGIN SET LOCAL work_mem = '1MB'; RETURN 1; END $$ SET jit = off;
SET maintenance_work_mem = '1GB';
"""
NAMES = ("work_mem", "jit", "maintenance_work_mem")


def test_a_function_ends_with_its_statement() -> None:
    functions = functions_in(SCHEMA, DATA)
    assert settings_in(with_functions("SELECT quiet()", functions), NAMES) == set()
    assert settings_in(with_functions("SELECT loud()", functions), NAMES) == {"work_mem", "jit"}


@pytest.mark.parametrize(
    "arguments",
    ["'work_mem', '1MB', true", "setting_name => 'work_mem', new_value => '1MB', is_local => true",
     "E'work_mem','1MB',false", "$n$work_mem$n$, '1MB', true"],
)  # fmt: skip
def test_set_config_is_found_however_its_argument_is_written(arguments: str) -> None:
    assert settings_in(f"SELECT set_config({arguments});", NAMES) == {"work_mem"}
