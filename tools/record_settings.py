"""Record which settings a PostgreSQL version knows, for the spec's offline check.

Enters: a psql binary and a connection (PG* variables). Leaves: one JSON file under
python/pgassay/spec/settings. Run it once per major version:

    python tools/record_settings.py /usr/lib/postgresql/15/bin/psql
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

QUERY = """
SELECT json_object_agg(name, json_strip_nulls(json_build_object(
         'context', context, 'vartype', vartype, 'unit', unit,
         'min', min_val, 'max', max_val, 'enum', enumvals)) ORDER BY name),
       current_setting('server_version_num')::int / 10000
  FROM pg_settings
 WHERE name !~ '\\.'
"""
DIRECTORY = Path(__file__).parent.parent / "python" / "pgassay" / "spec" / "settings"


def main(psql: str) -> None:
    """Write the file of the server's major version."""
    row = subprocess.run(
        [psql, "-XAtq", "-F", "\x1f", "-c", QUERY], check=True, capture_output=True, text=True
    ).stdout.strip()
    catalogue, major = row.rsplit("\x1f", 1)
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(fields)}"
        for name, fields in json.loads(catalogue).items()
    )
    (DIRECTORY / f"postgresql_{major}.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
