"""`python3 -m tutti.serve FILE.py:name`: an algorithm in Python for the command, which starts this
program for `-a FILE.py:name`. A line of JSON comes on stdin for each collective, and one goes back:

    {"id", "network": {"nodes": [{"name", "kind"}], "links": [{"source", "destination", "latency_ps",
     "bandwidth_bytes_per_s"}]}, "collective": {"kind", "size_bytes", "members": [node], "root",
     "chunks_per_shard"}, "options": {"seed", "limit_s", "settings"}}
    {"id", "transfers": [[source rank, destination rank, chunk, "copy" | "reduce"(, after)]]}
    or {"id", "unsupported": "why"}, or {"id", "error": "why"}

What the algorithm prints goes to stderr."""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

import tutti
from tutti.work import Algorithm, Options, loaded, sends_of


def _collective(asked: dict[str, Any]) -> tutti.Collective:
    nodes, links = asked["network"]["nodes"], asked["network"]["links"]
    topology = tutti.Topology.build(
        nodes, [{"from": nodes[link["source"]]["name"], "to": nodes[link["destination"]]["name"],
                 "latency": f"{link['latency_ps']}ps", "bandwidth": link["bandwidth_bytes_per_s"],
                 "directed": True} for link in links])
    wanted = asked["collective"]
    members, root = wanted["members"], wanted.get("root")
    return tutti.Collective(topology, wanted["kind"], wanted["size_bytes"], group=members,
                            chunks=wanted.get("chunks_per_shard", 1),
                            root=None if root is None else members[root])


def answer(line: str, function: Algorithm, name: str) -> dict[str, Any]:
    """The answer to one line."""
    number = None
    try:
        asked = json.loads(line)
        number = asked.get("id")
        told = asked.get("options", {})
        options = Options(told.get("seed", 1), told.get("limit_s"), told.get("settings", {}))
        collective = _collective(asked)
        made = function(collective.topology, collective, options)
        if isinstance(made, tutti.Outcome) and made.schedule is None:
            return {"id": number, "unsupported": made.note}
        made = made.schedule if isinstance(made, tutti.Outcome) else made
        if made is None:
            raise TypeError("it returned None, and no sends, Schedule or Outcome")
        sends = sends_of(made) if isinstance(made, tutti.Schedule) else made
        return {"id": number, "transfers": [list(send) for send in sends]}
    except Exception as error:  # whatever it is, the command says it
        traceback.print_exc()
        return {"id": number, "error": f"{name}: {type(error).__name__}: {error}"}


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m tutti.serve FILE.py:name")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what is printed is no answer
    name, function = loaded(sys.argv[1])
    for line in sys.stdin:
        answers.write(json.dumps(answer(line, function, name)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
