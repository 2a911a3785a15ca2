#!/usr/bin/env python3
"""Swing (De Sensi et al., NSDI 2024) as a program that Tutti asks: docs/formats/program.md.

Rank r of a ring exchanges with r + d, or r - d where r is odd, d = 1, -1, 3, -5, ...: so near that
on a torus it shares few links with others. 2 D of them, each with a part of every shard, start in
each of the D dimensions and go either way (sec. 3 and 4.1 there).
"""
import json
import math
import sys


def steps_of(shape, first):
    """(dimension, number of its steps before) of each step, dimension after dimension."""
    left = [int(math.log2(extent)) for extent in shape]
    done = [0] * len(shape)
    steps, d = [], first
    while any(left):
        if left[d]:
            steps.append((d, done[d]))
            left[d] -= 1
            done[d] += 1
        d = (d + 1) % len(shape)
    return steps


def peer(rank, step, shape, sign):
    dimension, number = step
    stride = math.prod(shape[:dimension])  # the first dimension's ranks are next to one another
    x = rank // stride % shape[dimension]
    distance = sign * (1 - (-2) ** (number + 1)) // 3
    to = (x + (distance if x % 2 == 0 else -distance)) % shape[dimension]
    return rank + (to - x) * stride


def transfers_of(kind, ranks, shape, chunks):
    """Of All-Reduce and its two halves, step by step: a pair's transfers keep their order."""
    parts = []
    for part in range(2 * len(shape)):
        steps = steps_of(shape, part // 2)
        peers = [[peer(r, s, shape, 1 - part % 2 * 2) for r in range(ranks)] for s in steps]
        # blocks[s][r]: what r collects, or hands out, in step s and those after it
        blocks = [[[rank] for rank in range(ranks)]]
        for to in reversed(peers):
            blocks.insert(0, [blocks[0][r] + blocks[0][to[r]] for r in range(ranks)])
        parts.append((peers, blocks, range(part, chunks, 2 * len(shape))))

    def step(s, op):
        for peers, blocks, own in parts:
            for rank, to in enumerate(peers[s]):
                for block in blocks[s + 1][to if op == "reduce" else rank]:
                    for k in own:
                        yield [rank, to, block * chunks + k, op]

    steps = range(len(parts[0][0]))
    if kind != "all_gather":
        for s in steps:
            yield from step(s, "reduce")
    if kind != "reduce_scatter":
        for s in reversed(steps):
            yield from step(s, "copy")


def answer(question):
    collective, network = question["collective"], question["network"]
    ranks = len(collective["members"])
    everyone = collective["members"] == list(range(network["npus"]))
    shape = [extent for extent in network["shape"] if extent > 1] if everyone else []
    if math.prod(shape) != ranks:
        shape = [ranks]
    if question["ask"] == "chunks":
        return {"chunks": [2 * len(shape) * factor for factor in (1, 2, 4)]}
    if collective["kind"] not in ("all_reduce", "all_gather", "reduce_scatter"):
        return {"unsupported": "Swing is of All-Reduce, All-Gather and Reduce-Scatter"}
    if any(extent & (extent - 1) for extent in shape):
        return {"unsupported": f"Swing needs powers of two, not {shape}"}
    if collective["chunks_per_shard"] % (2 * len(shape)):
        return {"unsupported": f"chunks per shard must be a multiple of {2 * len(shape)}"}
    return {
        "transfers": list(
            transfers_of(collective["kind"], ranks, shape, collective["chunks_per_shard"])
        )
    }


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], **answer(asked)}), flush=True)
