"""`python3 -m tutti.serve FILE.py:NAME`: an algorithm in Python for the command, which starts this program
for `-a FILE.py:NAME`. It reads questions and writes answers, a line of JSON each, as
docs/formats/program.md says. What the algorithm prints goes to stderr."""

from __future__ import annotations

import json
import operator
import os
import pathlib
import sys
import traceback
from typing import Any

import tutti
from tutti.work import Algorithm, Options, loaded, required_of, transfers_of


def _network(asked: dict[str, Any]) -> tutti.Topology:
    names = [node["name"] for node in asked["nodes"]]
    nodes = [{"name": node["name"], "kind": node["kind"],
              **{key: node[key] for key in ("store", "copy", "reduce") if key in node},
              **({"reduce_rate": f"{rate}B/s"} if (rate := node.get("reduce_rate_bytes_per_s")) else {}),
              **({"coordinates": at} if (at := node.get("coordinate")) else {})} for node in asked["nodes"]]
    pairs = [(names[link["from"]], names[link["to"]]) for link in asked["links"]]
    links = [{"from": pair[0], "to": pair[1], "latency": f"{link['latency_ps']}ps", "directed": True,
              "bandwidth": link["bandwidth_bytes_per_s"], "dimension": link.get("dimension")}
             for pair, link in zip(pairs, asked["links"])]
    groups = [{"name": group["name"], "bandwidth": group["bandwidth_bytes_per_s"],
               "links": [[*pairs[i], pairs[:i].count(pairs[i])] for i in group["links"]]}
              for group in asked.get("groups", ())]
    return tutti.Topology.build(nodes, links, shape=asked.get("shape") or None, groups=groups)


def _collective(asked: dict[str, Any]) -> tutti.Collective:
    wanted = asked["collective"]
    members, root = wanted["members"], wanted.get("root")
    return tutti.Collective(_network(asked["network"]), wanted["kind"], wanted["bytes"], group=members,
                            chunks=wanted["chunks_per_shard"], root=None if root is None else members[root])


def answer(line: str, function: Algorithm, name: str) -> str:
    """The answer to one line."""
    number = None
    try:
        asked = json.loads(line)
        number = asked.get("id")
        if asked.get("ask") == "chunks":  # any will do
            return json.dumps({"id": number})
        told = asked.get("options", {})
        options = Options(told.get("seed", 1), told.get("limit_s"), told.get("settings", {}))
        collective = _collective(asked)
        made = function(collective.topology, collective, options)
        if isinstance(made, tutti.Outcome) and made.schedule is None:
            return json.dumps({"id": number, "unsupported": made.note})
        made = made.schedule if isinstance(made, tutti.Outcome) else made
        if made is None:
            raise TypeError("it returned None, and no sends, Schedule or Outcome")
        sends = transfers_of(required_of(made, collective, name)) if isinstance(made, tutti.Schedule) else made
        return json.dumps({"id": number, "transfers": [list(send) for send in sends]},
                          default=operator.index)  # of NumPy's ints
    except Exception as error:  # whatever it is, the command says it
        traceback.print_exc()
        return json.dumps({"id": number, "error": f"{name}: {type(error).__name__}: {error}"})


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m tutti.serve FILE.py:name")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what is printed is no answer
    sys.path.insert(0, str(pathlib.Path(sys.argv[1].rpartition(".py")[0]).resolve().parent))  # for what it imports
    name, function = loaded(sys.argv[1])
    for line in sys.stdin:
        answers.write(answer(line, function, name) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
