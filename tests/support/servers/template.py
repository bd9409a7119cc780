"""Clusters of tests, copied from one that initdb has made with the same options.

Enters: what a target asks of initdb. Leaves: its data directory, at a tenth of the processor time.
Never: hides what initdb says where the copy fails, as on a full disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgassay.server.owned.cluster import Cluster
from support.synthetic.kept import FOLDER, kept_folder


@contextmanager
def clusters_from_templates() -> Iterator[None]:
    """Replaces initdb by a copy while the block lasts, in this process and those it forks. All
    clusters of one template have the same system identifier."""
    by_initdb = Cluster.make_files

    def make_files(cluster: Cluster, options: Sequence[str]) -> None:
        if not os.access(os.environ[FOLDER], os.W_OK):
            by_initdb(cluster, options)
            return
        is_made = False
        data = cluster.workspace.data

        def make(folder: Path) -> None:
            nonlocal is_made
            by_initdb(cluster, options)
            _copy(data, folder)
            is_made = True

        program, account = cluster.installation.program("initdb"), cluster.workspace.account
        template = kept_folder(make, str(program), tuple(options), account.name)
        if not is_made:
            cluster._copied = True
            shutil.rmtree(data, ignore_errors=True)
            if not _copy(template, data):
                by_initdb(cluster, options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cluster, "make_files", make_files)
        yield


def _copy(folder: Path, to: Path) -> bool:
    return subprocess.run(["cp", "-a", "--", folder, to], check=False).returncode == 0
