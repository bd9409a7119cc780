"""A server that answers only what the protocol demands, to more sessions than PostgreSQL could.

Enters: the path of a socket as the first argument. Leaves: a line once it listens; ends with its
standard input. Never: reads the queries.

A real server needs megabytes per session; tests with this one concern the client only.
"""

from __future__ import annotations

import asyncio
import resource
import struct
import sys


def message(kind: bytes, body: bytes = b"") -> bytes:
    """One message of the server: type, length, body."""
    return kind + struct.pack("!I", len(body) + 4) + body


READY = message(b"Z", b"I")
WELCOME = (
    message(b"R", struct.pack("!I", 0)) + message(b"K", struct.pack("!II", 1, 2)) + READY
)  # authentication ok, a key to cancel with
ANSWER = message(b"C", b"SELECT 0\0") + READY


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one session until it terminates."""
    try:
        (length,) = struct.unpack("!I", await reader.readexactly(4))
        await reader.readexactly(length - 4)
        writer.write(WELCOME)
        while True:
            kind, length = struct.unpack("!cI", await reader.readexactly(5))
            await reader.readexactly(length - 4)
            if kind == b"X":
                break
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main(path: str) -> None:
    """Listen until standard input ends."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    async with await asyncio.start_unix_server(serve, path, backlog=4096):
        print("listening", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
