#!/usr/bin/env python3
"""Draws who sends what to whom in DeepEP's normal kernels: matrices for `all_to_all_v,file=`.

deepep.py, in the folder of deepep.toml, writes them to deepep/. What stands in a row and a column
is what one GPU sends to another over a card or over NVLink, by DeepEP's scheme: a token goes over
its own rail once to each server that has an expert of it, to the GPU of that rail, and from there
over NVLink once to each GPU that has one. Combine is the way back, in BF16. What a GPU has for
itself stays out, as it crosses nothing.

Experts are drawn as tests/test_internode.py of DeepEP v1 and tests/elastic/test_ep.py of v2 draw
them: scores are independent and alike, so that their order is a random permutation; v1 then keeps
the 8 best of the 4 servers whose best score is highest. It also prints what DeepEP counts as sent
over RDMA (tokens times servers that each goes to, its own among them) and received over NVLink, its
own among them, per GPU in the mean: its GB/s are these over the time.
"""
import os
import random
import sys

EXPERTS, TOP, PER_SERVER = 256, 8, 8


def chosen(draw, servers, groups):
    """The experts of a token, of at most so many servers."""
    experts, kept = [], set()
    while len(experts) < TOP:
        expert = draw.randrange(EXPERTS)
        server = expert * servers // EXPERTS
        if expert in experts or (server not in kept and len(kept) == groups):
            continue
        kept.add(server)
        experts.append(expert)
    return experts


def tokens_sent(servers, groups, tokens):
    """By sender and receiver how many tokens cross, and the means per GPU of what DeepEP counts."""
    draw = random.Random(1)
    ranks = servers * PER_SERVER
    sent = [[0] * ranks for _ in range(ranks)]
    rdma = nvlink = 0
    for source in range(ranks):
        rail = source % PER_SERVER
        for _ in range(tokens):
            holders = {expert * ranks // EXPERTS for expert in chosen(draw, servers, groups)}
            entered = {holder // PER_SERVER for holder in holders}
            rdma += len(entered)
            nvlink += len(holders)
            for server in entered:
                sent[source][server * PER_SERVER + rail] += server != source // PER_SERVER
            for holder in holders:
                relay = holder // PER_SERVER * PER_SERVER + rail
                sent[relay][holder] += relay != holder
    return sent, rdma / ranks, nvlink / ranks


def write(name, sent, size):
    with open(name, "w", encoding="utf-8") as out:
        for row in sent:
            print(",".join(str(tokens * size) for tokens in row), file=out)


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "deepep")
    os.makedirs(folder, exist_ok=True)
    # Hidden 7,168: FP8 with a scale of 4 bytes for 128; BF16. v2 counts indices (8 B) and weights
    # (4 B) of experts, too.
    v1, v2 = (7392, 14336), (7392 + TOP * 12, 14336 + TOP * 4)
    for label, servers, groups, tokens, sizes in (
        ("v1_ep16", 2, 2, 4096, v1),
        ("v1_ep32", 4, 4, 4096, v1),
        ("v1_ep64", 8, 4, 4096, v1),
        ("v2_ep16", 2, 2, 8192, v2),
        ("v2_ep32", 4, 4, 8192, v2),
    ):
        sent, rdma, nvlink = tokens_sent(servers, groups, tokens)
        write(os.path.join(folder, f"{label}_dispatch.csv"), sent, sizes[0])
        write(os.path.join(folder, f"{label}_combine.csv"), list(zip(*sent)), sizes[1])
        for way, size in zip(("dispatch", "combine"), sizes):
            print(f"{label} {way}: RDMA {rdma * size:.0f} B, NVLink {nvlink * size:.0f} B")


if __name__ == "__main__":
    main()
