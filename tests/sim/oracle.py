#!/usr/bin/env python3
"""Executable specification of what a Tutti schedule means and when things happen (FIFO discipline).

Slow, plain and independent of the project's code: use it to settle a question about docs/model.md and to
cross-check `verify` and the engines on small cases.

    oracle.py CASE.json            prints {"fault", "redundant", "completion_ps", "delivered_ps", "link_bytes", "link_busy_ps"}
    oracle.py --selftest           the worked cases of docs/model.md

CASE.json
  nodes       [{"store": bool, "copy": bool, "reduce": bool,               default: all true (an NPU)
                "starts_ps": int}]                                        joins the collective then; default 0
  links       [{"from": int, "to": int, "latency_ps": int, "bandwidth": bytes/s (int)}]
  groups      [{"links": [int], "bandwidth": bytes/s}]                     joint bandwidth, optional
  chunks      [{"bytes": int, "held_by": [node], "wanted_by": [node]}]     a chunk with several holders and
              "reduce": true has one contribution per holder; without it the holders hold the same data
  transfers   [{"chunk": int, "path": [link], "op": "copy"|"reduce", "together": bool,
                "contiguous": bool,                                       shares a send with the one before; default false
                "after": [{"transfer": int, "event": "left"|"arrived"}]}]  named dependencies; default none
  time_model  {"link_busy": "serialization"|"latency+serialization", "forwarding": "auto"|"cut-through"|"store-and-forward"}
"""
import heapq
import json
import sys
from collections import defaultdict


def serialization_ps(nbytes, bandwidth):
    """Picoseconds that `nbytes` occupy a link of `bandwidth` bytes/s, rounded up."""
    return -(-nbytes * 10**12 // bandwidth)


def with_defaults(case):
    for n in case["nodes"]:
        for ability in ("store", "copy", "reduce"):
            n.setdefault(ability, True)
        n.setdefault("starts_ps", 0)
    case.setdefault("groups", [])
    case.setdefault("time_model", {})
    case["time_model"].setdefault("link_busy", "serialization")
    case["time_model"].setdefault("forwarding", "auto")
    for t in case["transfers"]:
        t.setdefault("op", "copy")
        t.setdefault("together", False)
        t.setdefault("contiguous", False)
        t.setdefault("after", [])
    return case


def blocks(transfers):
    """Indices of transfers, grouped: those marked `together` share the block of the one before."""
    out = []
    for i, t in enumerate(transfers):
        if t["together"] and out:
            out[-1].append(i)
        else:
            out.append([i])
    return out


def sends(transfers):
    """Indices of transfers, grouped: those marked `contiguous` share the send of the one before."""
    out = []
    for i, t in enumerate(transfers):
        if t["contiguous"] and out:
            out[-1].append(i)
        else:
            out.append([i])
    return out


def send_fault(transfers):
    """Why transfers can't share a send as they say, or None."""
    in_blocks = {i for block in blocks(transfers) for i in block if len(block) > 1}
    if transfers and transfers[0]["contiguous"]:
        return "transfer 0: is contiguous with none"
    for send in sends(transfers):
        if len(send) == 1:
            continue
        first = transfers[send[0]]
        for i in send:
            if i in in_blocks:
                return f"transfer {i}: is both together and contiguous with others"
            if transfers[i]["path"] != first["path"] or transfers[i]["op"] != first["op"]:
                return f"transfer {i}: shares a send and has another path or op"
        if len({transfers[i]["chunk"] for i in send}) < len(send):
            return f"transfer {send[0]}: its send has a chunk twice"
    return None


def verify(case):
    """(fault in words or None, number of redundant copies)."""
    links, nodes = case["links"], case["nodes"]
    for v, node in enumerate(nodes):
        if node["starts_ps"] < 0 or (node["starts_ps"] > 0 and not node["store"]):
            return f"node {v}: starts at {node['starts_ps']} ps (only what can store starts late, and none before 0)", 0
    state = defaultdict(frozenset)
    full = []
    for c, chunk in enumerate(case["chunks"]):
        distinct = chunk.get("reduce", False)
        full.append(frozenset(chunk["held_by"]) if distinct else frozenset(["data"]))
        for v in chunk["held_by"]:
            state[c, v] = frozenset([v]) if distinct else frozenset(["data"])
    redundant = 0
    fault = send_fault(case["transfers"])
    if fault:
        return fault, redundant
    first_of = {i: send[0] for send in sends(case["transfers"]) for i in send}
    for block in blocks(case["transfers"]):
        sent, moved = {}, set()
        for i in block:
            for d in case["transfers"][i]["after"]:
                if d["event"] not in ("left", "arrived"):
                    return f"transfer {i}: depends on an event {d['event']!r} (known: left, arrived)", redundant
                if case["transfers"][i]["path"] and not nodes[links[case["transfers"][i]["path"][0]]["from"]]["store"]:
                    return f"transfer {i}: its sender can't store, so it can't wait", redundant
                if not 0 <= d["transfer"] < first_of[block[0]]:
                    return f"transfer {i}: depends on transfer {d['transfer']}, which isn't listed before it", redundant
        for i in block:
            t = case["transfers"][i]
            if not t["path"]:
                return f"transfer {i}: empty path", redundant
            for a, b in zip(t["path"], t["path"][1:]):
                if links[a]["to"] != links[b]["from"]:
                    return f"transfer {i}: path breaks between links {a} and {b}", redundant
            u = links[t["path"][0]]["from"]
            if not state[t["chunk"], u]:
                return f"transfer {i}: node {u} doesn't hold chunk {t['chunk']}", redundant
            sent[i] = state[t["chunk"], u]
            if not nodes[u]["copy"]:
                if (t["chunk"], u) in moved:
                    return f"transfer {i}: node {u} can't copy, it has sent chunk {t['chunk']} already", redundant
                moved.add((t["chunk"], u))
        for key in moved:
            state[key] = frozenset()
        for i in block:
            t = case["transfers"][i]
            key = t["chunk"], links[t["path"][-1]]["to"]
            have, got, node = state[key], sent[i], nodes[key[1]]
            if t["op"] == "reduce" and have:
                if not node["reduce"]:
                    return f"transfer {i}: node {key[1]} can't reduce", redundant
                if have & got:
                    return f"transfer {i}: contributions {sorted(map(str, have & got))} counted twice", redundant
                state[key] = have | got
            else:
                if have - got:
                    return f"transfer {i}: copy loses contributions {sorted(map(str, have - got))}", redundant
                redundant += have == got
                state[key] = got
    for c, chunk in enumerate(case["chunks"]):
        for v in chunk["wanted_by"]:
            if state[c, v] != full[c]:
                return f"chunk {c} is not complete at node {v}", redundant
    return None, redundant


def replay(case):
    """Delivery time of every transfer (ps), bytes and busy time per link."""
    links, nodes, transfers = case["links"], case["nodes"], case["transfers"]
    held_latency = case["time_model"]["link_busy"] == "latency+serialization"
    forwarding = case["time_model"]["forwarding"]
    groups_of = defaultdict(list)
    for g, group in enumerate(case["groups"]):
        for l in group["links"]:
            groups_of[l].append(g)

    n = len(transfers)
    block_of = {i: b for b, members in enumerate(blocks(transfers)) for i in members}
    sender = [links[t["path"][0]]["from"] for t in transfers]
    receiver = [links[t["path"][-1]]["to"] for t in transfers]
    nbytes = [case["chunks"][t["chunk"]]["bytes"] for t in transfers]
    send_of = {}                       # its transfers; links carry it as its first, with all bytes
    for send in sends(transfers):
        nbytes[send[0]] = sum(nbytes[i] for i in send)
        send_of.update((i, send) for i in send)
    starts = [node["starts_ps"] for node in nodes]

    waits = [0] * n                    # arrivals still missing at the sender, and named dependencies
    named = {"left": defaultdict(list), "arrived": defaultdict(list)}  # transfer -> those that name it
    feeds = defaultdict(list)          # transfer -> transfers that wait for its arrival
    leaves = [0] * n                   # receiver's earlier sends of the chunk that have not left yet
    holds = defaultdict(list)          # transfer -> arrivals that wait for it to leave
    arrivals_at, sends_from, first_on = defaultdict(list), defaultdict(list), defaultdict(list)
    for i, t in enumerate(transfers):
        for j in arrivals_at[t["chunk"], sender[i]]:
            if block_of[j] < block_of[i]:
                waits[i] += 1
                feeds[j].append(i)
        for d in t["after"]:
            waits[i] += 1
            named[d["event"]][d["transfer"]].append(i)
        first_on[tuple(t["path"])].append(i)
        arrivals_at[t["chunk"], receiver[i]].append(i)
        sends_from[t["chunk"], sender[i]].append(i)
    for i, t in enumerate(transfers):
        for j in sends_from[t["chunk"], receiver[i]]:
            if j != i and (j < i or block_of[j] == block_of[i]):
                leaves[i] += 1
                holds[j].append(i)

    ready = [starts[u] for u in sender]  # earliest entry
    tail = [0] * n                     # earliest end of hop 1 (data still streaming in)
    next_on = defaultdict(int)         # path -> position in first_on of the next transfer to enter
    queue = defaultdict(list)          # link -> heap of (entry time, transfer, hop)
    link_free, group_free = defaultdict(int), defaultdict(int)
    arrived, left_at, delivered = [None] * n, [None] * n, [None] * n
    link_bytes, link_busy = [0] * len(links), [0] * len(links)
    events, tie = [], 0                # (time, serial, action, data)

    def at(time, action, *data):
        nonlocal tie
        tie += 1
        heapq.heappush(events, (time, tie, action, data))

    def enter_first(path, now):
        while next_on[path] < len(first_on[path]):
            i = first_on[path][next_on[path]]
            if waits[i] or ready[i] > now:
                return
            next_on[path] += 1
            send = send_of[i]
            if i == send[-1]:
                tail[send[0]] = max(tail[j] for j in send)
                heapq.heappush(queue[path[0]], (now, send[0], 0))

    def deliver(i, now):
        if (delivered[i] is None and arrived[i] is not None and arrived[i] <= now and not leaves[i]
                and now >= starts[receiver[i]]):
            delivered[i] = now
            if nodes[receiver[i]]["store"]:
                release(feeds[i], now)
            release(named["arrived"][i], now)

    def release(followers, now, end=0):
        for k in followers:
            waits[k] -= 1
            ready[k], tail[k] = max(ready[k], now), max(tail[k], end)
            at(now, "enter", tuple(transfers[k]["path"]))

    def start(l, i, hop, now):
        link, path = links[l], transfers[i]["path"]
        rate = min([link["bandwidth"]] + [case["groups"][g]["bandwidth"] for g in groups_of[l]])
        ser = serialization_ps(nbytes[i], rate)
        end = max(now + ser, tail[i])
        busy = now + ser + (link["latency_ps"] if held_latency else 0)
        link_free[l] = busy
        link_bytes[l] += nbytes[i]
        link_busy[l] += busy - now
        at(busy, "serve")
        for g in groups_of[l]:
            group_free[g] = now + serialization_ps(nbytes[i], case["groups"][g]["bandwidth"])
            at(group_free[g], "serve")
        if hop == 0:
            at(end, "left", i)
        cut = forwarding == "cut-through" or (forwarding == "auto" and not nodes[link["to"]]["store"])
        if hop + 1 < len(path):
            tail[i] = end + link["latency_ps"] if cut else 0
            at((now if cut else end) + link["latency_ps"], "hop", i, hop + 1)
        else:
            if not nodes[receiver[i]]["store"]:
                at(now + link["latency_ps"], "head", i, end + link["latency_ps"])
            at(end + link["latency_ps"], "arrive", i)

    def serve(now):
        """Start whatever can start, in order of entry, then of list position."""
        while True:
            heads = sorted((q[0], l) for l, q in queue.items()
                           if q and link_free[l] <= now and all(group_free[g] <= now for g in groups_of[l]))
            if not heads:
                return
            (_, i, hop), l = heads[0]
            heapq.heappop(queue[l])
            start(l, i, hop, now)

    for path in list(first_on):
        at(starts[links[path[0]]["from"]], "enter", path)
    while events:
        now = events[0][0]
        while events and events[0][0] == now:
            _, _, action, data = heapq.heappop(events)
            if action == "enter":
                enter_first(data[0], now)
            elif action == "hop":
                heapq.heappush(queue[transfers[data[0]]["path"][data[1]]], (now, data[0], data[1]))
            elif action == "left":
                for i in send_of[data[0]]:
                    left_at[i] = now
                    for k in holds[i]:
                        leaves[k] -= 1
                        deliver(k, now)
                    release(named["left"][i], now)
            elif action == "head":
                for i in send_of[data[0]]:
                    release(feeds[i], now, data[1])
            elif action == "arrive":
                for i in send_of[data[0]]:
                    arrived[i] = now
                    deliver(i, now)
                if now < starts[receiver[data[0]]]:
                    at(starts[receiver[data[0]]], "join", data[0])
            elif action == "join":
                for i in send_of[data[0]]:
                    deliver(i, now)
        serve(now)

    stuck = [i for i in range(n) if delivered[i] is None]
    if stuck:
        raise RuntimeError(f"transfers never delivered: {stuck[:10]}")
    return delivered, link_bytes, link_busy


def run(case):
    case = with_defaults(case)
    fault, redundant = verify(case)
    if fault:
        return {"fault": fault, "redundant": redundant}
    delivered, link_bytes, link_busy = replay(case)
    members = {v for chunk in case["chunks"] for v in chunk["held_by"] + chunk["wanted_by"]}
    last = max([case["nodes"][v]["starts_ps"] for v in members] + delivered, default=0)
    return {"fault": None, "redundant": redundant, "completion_ps": last,
            "delivered_ps": delivered, "link_bytes": link_bytes, "link_busy_ps": link_busy}


def selftest():
    a, size, bw = 500_000, 1_000_000, 50 * 10**9
    d = serialization_ps(size, bw)

    def links(pairs):
        return [{"from": u, "to": v, "latency_ps": a, "bandwidth": bw} for u, v in pairs]

    def check(name, got, want):
        print(("ok  " if got == want else "BAD "), name, got, want)
        return got == want

    good = True
    line = {"nodes": [{}, {}, {}], "links": links([(0, 1), (1, 2)]),
            "chunks": [{"bytes": size, "held_by": [0], "wanted_by": [1, 2]}],
            "transfers": [{"chunk": 0, "path": [0]}, {"chunk": 0, "path": [1]}]}
    good &= check("line broadcast, hop by hop", run(line)["completion_ps"], 2 * a + 2 * d)

    ring3 = [(0, 1), (1, 2), (2, 0)]
    rs = {"nodes": [{}] * 3, "links": links(ring3),
          "chunks": [{"bytes": size, "held_by": [0, 1, 2], "wanted_by": [c], "reduce": True} for c in range(3)],
          "transfers": [{"chunk": c, "path": [(c + 1 + s) % 3], "op": "reduce"} for s in range(2) for c in range(3)]}
    rs["nodes"] = [{} for _ in range(3)]
    good &= check("reduce-scatter on a 3-ring", run(rs)["completion_ps"], 2 * a + 2 * d)

    switch = {"nodes": [{}, {}, {}, {"store": False, "copy": False, "reduce": False}],
              "links": links([(0, 3), (1, 3), (2, 3), (3, 0), (3, 1), (3, 2)]),
              "chunks": [{"bytes": size, "held_by": [c], "wanted_by": [0, 1, 2]} for c in range(3)],
              "transfers": [{"chunk": c, "path": [c, 3 + (c + s) % 3]} for s in (1, 2) for c in range(3)]}
    good &= check("direct all-gather on a switch, rotating", run(switch)["completion_ps"], 2 * a + 2 * d)

    two = {"nodes": [{}, {}], "links": links([(0, 1), (1, 0)]),
           "chunks": [{"bytes": size, "held_by": [0, 1], "wanted_by": [0, 1], "reduce": True}],
           "transfers": [{"chunk": 0, "path": [0], "op": "reduce"},
                         {"chunk": 0, "path": [1], "op": "reduce", "together": True}]}
    good &= check("exchange of partial sums", run(two)["completion_ps"], a + d)
    two["transfers"][1]["together"] = False
    good &= check("the same one after another double-counts", run(two)["fault"] is not None, True)

    pair = {"nodes": [{} for _ in range(4)], "links": links([(0, 1), (2, 3)]), "groups": [{"links": [0, 1], "bandwidth": bw}],
            "chunks": [{"bytes": size, "held_by": [0], "wanted_by": [1]}, {"bytes": size, "held_by": [2], "wanted_by": [3]}],
            "transfers": [{"chunk": 0, "path": [0]}, {"chunk": 1, "path": [1]}]}
    good &= check("two links sharing one link's bandwidth", run(pair)["completion_ps"], a + 2 * d)

    cast = {"nodes": [{}, {"store": False, "reduce": False}, {}, {}], "links": links([(0, 1), (1, 2), (1, 3)]),
            "chunks": [{"bytes": size, "held_by": [0], "wanted_by": [2, 3]}],
            "transfers": [{"chunk": 0, "path": [0]}, {"chunk": 0, "path": [1]}, {"chunk": 0, "path": [2]}]}
    good &= check("multicast by a switch that can copy", run(cast)["completion_ps"], 2 * a + d)
    cast["nodes"][1]["copy"] = False
    good &= check("and by one that can't", run(cast)["fault"] is not None, True)

    # Chunk 1 is there at once and three times as large: it overtakes chunk 0 on link 1 unless told to wait.
    plan = {"nodes": [{} for _ in range(4)], "links": links([(3, 0), (0, 1), (1, 2)]),
            "chunks": [{"bytes": size, "held_by": [3], "wanted_by": [1]}, {"bytes": 3 * size, "held_by": [0], "wanted_by": [2]}],
            "transfers": [{"chunk": 0, "path": [0]}, {"chunk": 0, "path": [1]}, {"chunk": 1, "path": [1, 2]}]}
    good &= check("without dependency it overtakes", run(plan)["delivered_ps"], [a + d, a + 4 * d, 2 * a + 6 * d])
    plan["transfers"][2]["after"] = [{"transfer": 1, "event": "left"}]
    good &= check("after transfer 1 has left", run(plan)["delivered_ps"], [a + d, 2 * a + 2 * d, 3 * a + 8 * d])
    plan["transfers"][2]["after"] = [{"transfer": 1, "event": "arrived"}]
    good &= check("after it has arrived", run(plan)["delivered_ps"], [a + d, 2 * a + 2 * d, 4 * a + 8 * d])
    plan["transfers"][0]["after"] = [{"transfer": 2, "event": "left"}]
    good &= check("a dependency on a later transfer", run(plan)["fault"],
                  "transfer 0: depends on transfer 2, which isn't listed before it")

    pair = {"nodes": [{}, {}], "links": links([(0, 1)]), "time_model": {"link_busy": "latency+serialization"},
            "chunks": [{"bytes": size, "held_by": [0], "wanted_by": [1]} for _ in range(2)],
            "transfers": [{"chunk": 0, "path": [0]}, {"chunk": 1, "path": [0]}]}
    good &= check("two chunks one after another", run(pair)["delivered_ps"], [a + d, 2 * a + 2 * d])
    pair["transfers"][1]["contiguous"] = True
    good &= check("and in one send", run(pair)["delivered_ps"], [a + 2 * d, a + 2 * d])
    pair["transfers"][1]["chunk"] = 0
    good &= check("a chunk twice in a send", run(pair)["fault"] is not None, True)

    late, s = {"nodes": [{}, {"starts_ps": 10**8}], "links": links([(0, 1), (1, 0)]),
               "chunks": [{"bytes": size, "held_by": [v], "wanted_by": [0, 1]} for v in (0, 1)],
               "transfers": [{"chunk": 0, "path": [0]}, {"chunk": 1, "path": [1]}]}, 10**8
    good &= check("an NPU that starts late", run(late)["delivered_ps"], [s, s + a + d])
    through = {"nodes": [{}, {"starts_ps": s}, {}], "links": links([(0, 1), (1, 2)]),
               "chunks": [{"bytes": size, "held_by": [0], "wanted_by": [2]}], "transfers": [{"chunk": 0, "path": [0, 1]}]}
    good &= check("a path through it is hardware", run(through)["completion_ps"], 2 * a + 2 * d)
    through["transfers"] = [{"chunk": 0, "path": [0]}, {"chunk": 0, "path": [1]}]
    good &= check("a relay of its own waits", run(through)["completion_ps"], s + a + d)
    through["nodes"][0]["starts_ps"] = -1
    good &= check("a start before 0", run(through)["fault"] is not None, True)

    n, total = 64, 1 << 30
    fwd = [(i, (i + 1) % n) for i in range(n)]
    both = [{"from": u, "to": v, "latency_ps": a, "bandwidth": bw} for u, v in fwd + [(v, u) for u, v in fwd]]

    def path(u, v):
        k = (v - u) % n
        return [(u + s) % n for s in range(k)] if k <= n // 2 else [n + (u - 1 - s) % n for s in range(n - k)]

    direct = {"nodes": [{} for _ in range(n)], "links": both,
              "chunks": [{"bytes": total // n, "held_by": [c], "wanted_by": list(range(n))} for c in range(n)],
              "transfers": [{"chunk": c, "path": path(c, (c + s) % n)} for s in range(1, n) for c in range(n)]}
    ring = {"nodes": [{} for _ in range(n)], "links": both,
            "chunks": [{"bytes": total // n // 2, "held_by": [c % n], "wanted_by": list(range(n))} for c in range(2 * n)],
            "transfers": [{"chunk": c + h * n, "path": [(c + s) % n if h == 0 else n + (c - 1 - s) % n]}
                          for s in range(n - 1) for h in (0, 1) for c in range(n)]}
    ratio = run(direct)["completion_ps"] / run(ring)["completion_ps"]
    good &= check("all-gather, Direct / Ring on a 64-ring", round(ratio, 2), 16.71)
    return good


if __name__ == "__main__":
    if sys.argv[1:] == ["--selftest"]:
        sys.exit(0 if selftest() else 1)
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        json.dump(run(json.load(f)), sys.stdout)
    print()
