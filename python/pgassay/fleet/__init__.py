"""Blocks of one experiment on several servers, each of them on a node of a Ray cluster.

Decisions of this room:

- A block runs on one server, whole: what a server adds to all its trials cancels in the block's
  differences. A block whose server is lost is run again, whole, on another one.
- Blocks are judged in their order, each when all before it are finished: else the faster servers
  would decide when a run ends.
- A member is one actor that keeps its server up and runs one trial per call, so a server's trials
  never overlap. Records come back to the process that began the run, which alone writes them.
- Of a server that pgassay starts a lost node leaves nothing to put back; the next run there removes
  it. Of a user's every change is noted by the process that began the run, in the one journal of the
  run and this machine's change record, before the member makes it: the member asks, that process
  answers. So `recover` there is enough, whatever is killed, and nodes keep no record.
"""
