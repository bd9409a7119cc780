"""pgassay runs controlled performance experiments on PostgreSQL."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than the rest of this file
if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa

    from pgassay.runs.run import Run

__version__ = "0.1.0"
__all__ = ["__version__", "open_run", "sql"]


def open_run(path: str | PathLike[str]) -> Run:
    """Opens a stored run or observation: its tables (`.verdicts`, `.trials`, …) and JSON files.

    `path` may be a URL of a store.
    """
    from pathlib import Path

    from pgassay.runs.run import Run

    return Run(Path(path))


def sql(query: str, folder: str | PathLike[str] = "pgassay-runs") -> pa.Table:
    """Answers an SQL query over all runs of a folder, as `pgassay sql` gives it.

    `folder` may be a URL of a store. A run that cannot be read is left out, with a warning.
    """
    import warnings
    from pathlib import Path

    from pgassay.runs.catalogue import wanted_by
    from pgassay.runs.database import RunsDatabase
    from pgassay.runs.folder import run_paths
    from pgassay.stores.fetching import fetched

    def unreadable(path: Path, why: str) -> None:
        warnings.warn(f"left out: {why}", stacklevel=2)

    paths = run_paths(fetched(Path(folder), wanted_by(query)))
    with RunsDatabase(paths, unreadable).answer(query) as answer:
        return answer.read_all()
