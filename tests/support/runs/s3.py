"""An S3-compatible server over HTTP on the loopback.

Enters: nothing. Leaves: the environment in which a store's library finds it. Never: leaves it
running.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

BUCKET = "lab"


@contextmanager
def s3_server(home: Path) -> Iterator[Mapping[str, str]]:
    """With one empty bucket; copies of runs lie below `home`."""
    # Half a second to load, which every process of pytest would take.
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        made = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")  # noqa: S310 (ours)
        urllib.request.urlopen(made, timeout=30).close()  # noqa: S310
        yield {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "lab",
            "AWS_SECRET_ACCESS_KEY": "made-up",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_DATA_HOME": str(home / "data"),
        }
    finally:
        server.stop()
