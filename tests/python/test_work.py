"""Synthesis, verification, replays and bounds against the command's JSON, and algorithms in Python."""

import json
import pickle
import subprocess
import sys

import pytest

import tutti

TEXT = "mesh2d:3x3,bandwidth=50GB/s,latency=0.5us"


@pytest.mark.parametrize("algorithm,settings", [("tacos", {}), ("ring", {}), ("direct", {}), ("dbt", {}),
                                                ("tacos", {"starts": 2})])
@pytest.mark.parametrize("kind", ["all_reduce", "all_gather"])
def test_synthesis_is_the_commands(mesh, command, algorithm, kind, settings):
    made = tutti.synthesize(tutti.Collective(mesh, kind, "4MiB"), algorithm, settings=settings)
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    row = command("synth", "-t", TEXT, "-c", kind, "--size", "4MiB", "-a", algorithm, *words)[0]
    assert (made.status, made.verified, made.note or None) == (row["status"], row["verified"], row["note"])
    if made.schedule is None:
        return
    assert len(made.schedule) == row["transfers"]
    report = made.schedule.replay()
    assert report.completion_ps == row["collective_time_ps"]
    assert report.algbw_bytes_per_s == pytest.approx(row["algbw_bytes_per_s"])
    assert report.busbw_bytes_per_s == pytest.approx(row["busbw_bytes_per_s"])
    assert report.utilisation.max() == pytest.approx(row["max_link_utilisation"])
    assert tutti.bound(made.schedule.collective).time_ps == row["lower_bound_ps"]
    at_chunks = tutti.bound(made.schedule.collective, at_chunks=True)
    assert at_chunks.time_ps == row["lower_bound_at_chunks_ps"]


def test_what_has_no_schedule_is_a_status(mesh):
    three = tutti.Collective(mesh, "all_reduce", "1MiB")
    made = tutti.synthesize(three, "rhd")
    assert (made.status, made.schedule, made.verified) == ("unsupported", None, False)
    assert "power of two" in made.note
    apart = tutti.Topology.build(3, [("npu0", "npu1")], bandwidth="1GB/s", latency="1us")
    with pytest.raises(tutti.InputError, match="npu2"):
        tutti.bound(tutti.Collective(apart, "all_gather", "1MiB"))
    with pytest.raises(tutti.InputError, match="did you mean \"tacos\""):
        tutti.synthesize(three, "tacoss")
    with pytest.raises(tutti.InputError, match="setting"):
        tutti.synthesize(three, "ring", settings={"colour": 1})


def test_time_models(mesh):
    made = tutti.synthesize(tutti.Collective(mesh, "all_gather", "1MiB", chunks=1), "direct").schedule
    plain, busy = made.replay(), made.replay(link_busy="latency+serialization")
    assert busy.completion_ps > plain.completion_ps
    assert made.replay("simgrid").completion_ps == plain.completion_ps
    assert made.replay("simgrid", discipline="fluid").discipline == "fluid"
    with pytest.raises(tutti.InputError, match="no fluid"):
        made.replay("native", discipline="fluid")
    with pytest.raises(tutti.InputError, match="link-busy model"):
        made.replay(link_busy="always")


def test_a_fault_is_found_and_never_replayed(mesh):
    gather = tutti.Collective(mesh, "all_gather", "9MiB", chunks=1)
    wrong = tutti.Schedule.from_sends(gather, [(0, 1, 5, "copy")])
    verdict = wrong.verify()
    assert not verdict and verdict.transfer == 0 and "doesn't hold" in verdict.fault
    with pytest.raises(tutti.InputError, match="the schedule is wrong"):
        wrong.replay()
    with pytest.raises(tutti.InputError, match="the schedule is wrong"):
        wrong.replay("simgrid")
    twice = [(r, (r + 1) % 9, (r - step) % 9, "copy") for step in range(8) for r in range(9)]
    assert tutti.Schedule.from_sends(gather, twice + [(0, 1, 0, "copy")]).verify().redundant == 1


def test_compact_schedules_are_blocks():
    network = tutti.Topology("ring:4")
    made = tutti.synthesize(tutti.Collective(network, "all_gather", "1MiB", chunks=2), "ring").schedule
    compact = made.compacted()
    assert compact.is_compact and not made.is_compact and compact.compacted() is compact
    blocks = dict(compact.blocks())
    assert sum(map(len, blocks.values())) == len(compact) == len(made) and len(blocks) == network.link_count
    assert not blocks[0].flags.owndata and not blocks[0].flags.writeable
    chunks = made.columns()
    for link, block in blocks.items():
        assert block.tolist() == chunks["chunk"][chunks["path"] == link].tolist()
    assert compact.verify() and compact.replay().completion_ps == made.replay().completion_ps
    again = pickle.loads(pickle.dumps(compact))
    assert again.is_compact and again == compact and again.expanded().verify()
    with pytest.raises(tutti.InputError, match="blocks"):
        compact.transfers
    assert len(compact.replay(hops=True).hops) == len(made)
    reducing = tutti.synthesize(tutti.Collective(network, "all_reduce", "1MiB", chunks=1), "ring").schedule
    halves = reducing.compacted()
    count = {sums: sum(len(block) for _, block in halves.blocks(reductions=sums)) for sums in (True, False)}
    assert count[True] == count[False] == len(reducing) // 2 and halves.verify()
    assert halves.replay().completion_ps == reducing.replay().completion_ps
    assert pickle.loads(pickle.dumps(halves)).expanded() == halves.expanded()
    twice = tutti.Schedule.from_sends(reducing.collective, [(0, 1, 0, "reduce"), (0, 3, 0, "reduce")])
    assert twice.compacted() is None


def test_progress_is_heard_in_the_thread_that_asked():
    import threading

    heard = []
    network = tutti.Topology("torus2d:12x12")
    tutti.synthesize(tutti.Collective(network, "all_reduce", "1GiB", chunks=16), "tacos", threads=1,
                     progress=lambda *what: heard.append((threading.get_ident(), *what)))
    assert heard and {one[0] for one in heard} == {threading.get_ident()}
    assert all(isinstance(one[1], str) and one[2] >= 0 for one in heard)


def test_progress_is_a_bar_where_tqdm_is(monkeypatch, capsys):
    import sys
    import types

    from tutti.work import listener

    class Bar:
        total, n, shown = None, 0, []

        def set_description(self, stage, refresh):
            self.stage = stage

        def refresh(self):
            self.shown.append((self.stage, self.n, self.total))

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    heard = listener(True)
    heard("replay", 3, 9)
    heard("verification", 1, 0)
    assert Bar.shown == [("replay", 3, 9), ("verification", 1, None)]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    listener(True)("replay", 3, 9)
    assert capsys.readouterr().err == "tutti: replay: 3 of 9\n"


def test_what_progress_raises_ends_the_work():
    network = tutti.Topology("torus2d:12x12")

    def stop(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tutti.synthesize(tutti.Collective(network, "all_reduce", "1GiB", chunks=32), "tacos", progress=stop)


def ring_of(topology, collective, options):
    n = len(collective.parts[0]["group"])
    for step in range(n - 1):
        for rank in range(n):
            yield rank, (rank + 1) % n, (rank - step) % n, "copy"


def test_algorithms_in_python(mesh):
    gather = tutti.Collective(mesh, "all_gather", "9MiB")
    assert tutti.synthesize(gather, ring_of).verified
    seen = []

    @tutti.algorithm(name="test_asked")
    def asked(topology, collective, options):
        seen.append((topology.name, options.seed, options.limit_s, dict(options.settings)))
        return list(ring_of(topology, collective, options))

    made = tutti.synthesize(gather, "test_asked", seed=7, limit="2s", settings={"a": True})
    assert made.verified and made.algorithm == "test_asked" and made.schedule.algorithm == "test_asked"
    assert seen == [(mesh.name, 7, 2.0, {"a": "yes"})]
    why = tutti.synthesize(gather, lambda t, c, o: tutti.unsupported("not today"))
    assert (why.status, why.note, why.schedule) == ("unsupported", "not today", None)
    faulty = tutti.synthesize(gather, lambda t, c, o: [(0, 1, 0, "copy")])
    assert faulty.problem.startswith("fault: ") and not faulty.verified
    with pytest.raises(TypeError, match="returned None"):
        tutti.synthesize(gather, lambda t, c, o: None)
    with pytest.raises(ValueError, match="tacos"):
        tutti.algorithm(name="tacos")(ring_of)
    with pytest.raises(ZeroDivisionError):
        tutti.synthesize(gather, lambda t, c, o: 1 / 0)


def test_a_functions_schedule_is_of_what_was_asked(mesh):
    ring = tutti.Topology("ring:4")
    asked = tutti.Collective(ring, "all_gather", "1MiB", chunks=2)
    made = tutti.synthesize(asked, "tacos").schedule
    assert tutti.synthesize(asked, lambda *_: made).chunks == 2
    assert tutti.synthesize(tutti.Collective(ring, "all_gather", "1MiB"), lambda *_: made).chunks == 2
    for other, words in [(tutti.Collective(mesh, "all_reduce", "1GiB"), "of another network, ring:4"),
                         (tutti.Collective(ring, "all_reduce", "1MiB"), "of all_gather, .* not of all_reduce"),
                         (tutti.Collective(ring, "all_gather", "2MiB"), "1048576 bytes .* not of .*2097152 bytes"),
                         (tutti.Collective(ring, "all_gather", "1MiB", group=[0, 1, 2]), "group=0"),
                         (asked.with_chunks(1), "in 2 chunks per shard, not of .* in 1$")]:
        with pytest.raises(tutti.InputError, match=words):
            tutti.synthesize(other, lambda *_: made)
    rooted = [tutti.Collective(ring, "broadcast", "1MiB", chunks=1, root=root) for root in (0, 1)]
    with pytest.raises(tutti.InputError, match="root=1"):
        tutti.synthesize(rooted[1], lambda *_: tutti.synthesize(rooted[0], "tacos").schedule)


def test_keywords_and_limits_of_functions(mesh):
    gather = tutti.Collective(mesh, "all_gather", "9MiB", chunks=1)
    for more, words in [({"bogus": "x"}, "bogus"), ({"routing": "nonsense"}, "routing"), ({"link_busy": "qq"}, "link_busy"),
                        ({"limit": 0}, "limit"), ({"limit": "1s,2s"}, "limit"), ({"limit": "0B"}, "limit")]:
        with pytest.raises(tutti.InputError, match=words):
            tutti.synthesize(gather, ring_of, **more)
    assert tutti.synthesize(gather, ring_of, limit="600s,8GiB").verified

    def endless(*_):
        while True:
            yield 0, 1, 0, "copy"

    late = tutti.synthesize(gather, endless, limit="1ms")
    assert (late.status, late.schedule) == ("timed_out", None) and "0.001 s" in late.note


def test_files_of_algorithms(tmp_path):
    folder = tmp_path / ".pyd"
    folder.mkdir()
    file = folder / "alg.py"
    file.write_text("""from __future__ import annotations
import dataclasses
import tutti
@dataclasses.dataclass
class Needs:
    its: int
@tutti.algorithm(name="test_other")
def good(topology, collective, options):
    n = len(collective.parts[0]["group"])
    return [(r, (r + 1) % n, (r - s) % n, "copy") for s in range(n - 1) for r in range(n)]
""")
    gather = tutti.Collective(tutti.Topology("ring:4"), "all_gather", "1MiB", chunks=1)
    for name in ("good", "test_other", "test_other"):
        assert tutti.synthesize(gather, f"{file}:{name}").verified
    file.write_text("open('/no/such/data.txt')")
    with pytest.raises(FileNotFoundError, match="data.txt"):
        tutti.synthesize(gather, f"{file}:good")
    with pytest.raises(tutti.InputError, match="none.py: there is no such file"):
        tutti.synthesize(gather, f"{folder}/none.py:good")


SERVED = '''
import tutti
print("this is no answer")
@tutti.algorithm
def mine(topology, collective, options):
    print("nor is this")
    if collective.parts[0]["kind"] != "all_gather":
        return tutti.unsupported("all_gather only")
    if options.seed == 9:
        raise ValueError("seed 9")
    n = len(collective.parts[0]["group"])
    return [(r, (r + 1) % n, (r - s) % n, "copy") for s in range(n - 1) for r in range(n)]
'''


def test_serving_the_command(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(SERVED)
    made = tutti.Topology("ring:3,directions=1")
    network = {"nodes": made.nodes, "shape": made.shape, "npus": 3, "groups": [
        {"name": "g", "bandwidth_bytes_per_s": 10**9, "links": [0, 1]}], "links": [
            {"from": int(link["source"]), "to": int(link["destination"]), "latency_ps": int(link["latency_ps"]),
             "dimension": int(link["dimension"]), "bandwidth_bytes_per_s": int(link["bandwidth_bytes_per_s"])}
            for link in made.links]}
    lines = [{"id": i, "ask": "schedule", "network": network, "options": {"seed": seed, "limit_s": None, "settings": {}},
              "collective": {"kind": kind, "bytes": 3000, "members": [0, 1, 2], "root": None,
                             "chunks_per_shard": 1, "blocks": 3}}
             for i, (kind, seed) in enumerate([("all_gather", 1), ("all_reduce", 1), ("all_gather", 9)])]
    done = subprocess.run([sys.executable, "-m", "tutti.serve", f"{file}:mine"], capture_output=True, text=True,
                          input="".join(json.dumps(line) + "\n" for line in lines) + "no json\n")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0] == {"id": 0, "transfers": [[0, 1, 0, "copy"], [1, 2, 1, "copy"], [2, 0, 2, "copy"],
                                                 [0, 1, 2, "copy"], [1, 2, 0, "copy"], [2, 0, 1, "copy"]]}
    assert answers[1] == {"id": 1, "unsupported": "all_gather only"}
    assert answers[2] == {"id": 2, "error": "mine: ValueError: seed 9"}
    assert answers[3]["id"] is None and "error" in answers[3]
    assert "this is no answer" in done.stderr and "nor is this" in done.stderr
    missing = subprocess.run([sys.executable, "-m", "tutti.serve", f"{file}:other"], capture_output=True, text=True, input="")
    assert missing.returncode != 0 and "has no algorithm 'other' (registered: mine)" in missing.stderr


def test_the_command_asks_an_algorithm_in_python(tmp_path, command):
    file = tmp_path / "mine.py"
    file.write_text(SERVED)
    row = command("synth", "-t", "torus2d:3x3", "-c", "all_gather", "--size", "9MiB", "-a", f"{file}:mine", "--chunks", "1")[0]
    assert row["verified"] and row["transfers"] == 72
    made = tutti.synthesize(tutti.Collective(tutti.Topology("torus2d:3x3"), "all_gather", "9MiB", chunks=1), f"{file}:mine")
    assert made.verified and len(made.schedule) == 72


def test_the_command_simulates_what_the_function_returned(tmp_path, command):
    (tmp_path / "helper.py").write_text("import numpy\nnumber = numpy.int64\n")
    file = tmp_path / "given.py"
    file.write_text("""import tutti, helper
def waits(topology, collective, options):  # one after the other
    sends = [(r, (r + 1) % 4, (r - s) % 4, "copy") for s in range(3) for r in range(4)]
    return tutti.Schedule.from_sends(collective, [(*send, *([i - 1] if i else [])) for i, send in enumerate(sends)])
def numpys(topology, collective, options):
    return [(helper.number(r), (r + 1) % 4, helper.number((r - s) % 4), "copy") for s in range(3) for r in range(4)]
def recut(topology, collective, options):
    return tutti.synthesize(collective.with_chunks(3), "tacos").schedule
def object(topology, collective, options):
    return [(0, 1, 2j, "copy")]
""")
    ring = tutti.Topology("ring:4")
    gather = tutti.Collective(ring, "all_gather", "1MiB", chunks=1)
    times = {}
    for name in ("waits", "numpys", "recut", "object"):
        times[name] = command("synth", "-t", "ring:4", "-c", "all_gather", "--size", "1MiB", "-a", f"{file}:{name}",
                              "--chunks", "1")[0]
    sys.path.insert(0, str(tmp_path))
    try:
        made = tutti.synthesize(gather, f"{file}:waits").schedule
    finally:
        sys.path.remove(str(tmp_path))
    assert times["waits"]["collective_time_ps"] == made.replay().completion_ps > 3 * times["numpys"]["collective_time_ps"]
    assert "3 chunks per shard" in json.dumps(times["recut"]) and "complex" in json.dumps(times["object"])


def test_a_schedule_is_answered_link_by_link():
    from tutti.work import transfers_of

    ring = tutti.Topology("ring:4")
    gather = tutti.Collective(ring, "all_gather", "1MiB", chunks=1)
    made = tutti.Schedule.from_sends(gather, [(0, 2, 0, "copy"), (1, 2, 1, "copy", 0)])
    assert list(transfers_of(made)) == [(made.path(int(made.columns()["path"][0])).tolist(), 0, "copy", []),
                                        (made.path(int(made.columns()["path"][1])).tolist(), 1, "copy", [0])]
