"""Topology, Collective, Schedule and Report: against the command's JSON, arrays that outlive their
owners, pickles, and what is refused."""

import gc
import pickle

import numpy as np
import pytest

import tutti
from tutti import _tutti

TEXT = "mesh2d:3x3,bandwidth=50GB/s,latency=0.5us"
SHOWN = {"source": "from", "destination": "to", "latency_ps": "latency_ps",
         "bandwidth_bytes_per_s": "bandwidth_bytes_per_s"}


@pytest.mark.parametrize("text", [TEXT, "dgx1", "switch:4", "dgx_a100"])
def test_a_network_is_the_commands(text, command):
    made = tutti.Topology(text)
    shown = command("show", "-t", text)[0]
    assert (made.name, made.npu_count, made.link_count) == (shown["topology"], shown["npus"], shown["link_count"])
    assert f"{made.fingerprint:016x}" == shown["fingerprint"]
    assert made.nodes == shown["details"]["nodes"]
    assert made.groups == shown["details"]["groups"]
    for field, key in SHOWN.items():
        assert made.links[field].tolist() == [link[key] for link in shown["details"]["links"]]
    assert made.shape == shown["shape"]
    assert tutti.Topology(made.text) == made
    assert tutti.Topology.from_toml(made.to_toml()) == made


def test_own_nodes_and_links():
    made = tutti.Topology.build(["a", "b", {"name": "s", "kind": "switch"}],
                                [("a", "s", "10GB/s", 1e-6), {"source": "b", "to": "s", "directed": True}],
                                bandwidth=20_000_000_000, latency="2us", name="own",
                                groups=[{"name": "g", "bandwidth": 5 * 10**9, "links": [["a", "s"]]}])
    assert made.links.tolist() == [(0, 2, 10**6, 10**10, -1), (2, 0, 10**6, 10**10, -1), (1, 2, 2 * 10**6, 2 * 10**10, -1)]
    assert made.groups == [{"name": "g", "bandwidth_bytes_per_s": 5 * 10**9, "links": [0]}]
    assert (made.name, made.text, made.node_id("s")) == ("own", None, 2)
    with pytest.raises(TypeError, match=r"links\[0\]"):
        tutti.Topology.build(2, ["ab"])
    with pytest.raises(tutti.InputError, match="npu9"):
        tutti.Topology.build(2, [("npu0", "npu9")], bandwidth="1GB/s", latency="1us")


@pytest.mark.parametrize("text", ["ring:5", "mesh2d:3x3", "torus2d:3x4", "switch:4"])
def test_networkx_keeps_a_network(text):
    networkx = pytest.importorskip("networkx")
    made = tutti.Topology(text)
    assert tutti.Topology.from_networkx(made.to_networkx()) == made
    rate = tutti.Topology.build([{"name": "a", "kind": "npu", "reduce_rate": "7GB/s"}, "b"], [("a", "b")],
                                bandwidth="1GB/s", latency="1us")
    assert tutti.Topology.from_networkx(rate.to_networkx()) == rate
    assert tutti.Topology.from_networkx(networkx.MultiDiGraph(made.to_networkx())).links.tolist() == made.links.tolist()


def test_networkx_there_and_back():
    networkx = pytest.importorskip("networkx")
    graph = networkx.petersen_graph()
    made = tutti.Topology.from_networkx(graph, bandwidth="50GB/s", latency=5e-7)
    assert (made.npu_count, made.link_count) == (10, 30)
    assert set(made.links["latency_ps"]) == {500_000}
    again = tutti.Topology.from_networkx(made.to_networkx())
    assert sorted(again.links.tolist()) == sorted(made.links.tolist())
    graph.add_node("sw", kind="switch")
    graph.add_edge("sw", 0, bandwidth="1GB/s", latency="1us")
    with_switch = tutti.Topology.from_networkx(graph, bandwidth="50GB/s", latency=5e-7)
    assert with_switch.nodes[10] == {**with_switch.nodes[10], "name": "sw", "kind": "switch", "store": False}
    # The switch comes first in the graph, and last in the network.
    first = networkx.Graph()
    first.add_node("sw", kind="switch")
    first.add_edges_from([("sw", "a"), ("sw", "b")], bandwidth="1GB/s", latency="1us")
    assert [n["name"] for n in tutti.Topology.from_networkx(first).nodes] == ["a", "b", "sw"]


@pytest.mark.parametrize("kind,keys,text", [
    ("all_reduce", {}, "all_reduce"), ("broadcast", {"root": 3}, "broadcast,root=3"),
    ("all_gather", {"group": [0, 1, 2]}, "all_gather,group=0-2"),
    (["all_gather,group=0-3", "all_reduce,group=4-8"], {}, "all_gather,group=0-3 + all_reduce,group=4-8")])
def test_collectives(mesh, kind, keys, text):
    made = tutti.Collective(mesh, kind, "9MiB", chunks=2, **keys)
    assert made.text == text
    assert made.chunk_count == sum(part["chunk_count"] for part in made.parts) == len(made.chunks)
    assert made.chunks["size_bytes"].sum() == made.size_bytes
    assert tutti.Collective(mesh, kind, made.parts[0]["size_bytes"], chunks=2, **keys) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert made.with_chunks(1).chunk_count * 2 == made.chunk_count


def test_shares_are_an_array_of_bytes():
    ring = tutti.Topology("ring:3")
    matrix = np.array([[5, 1000, 0], [0, 7, 300], [100, 0, 0]])
    made = tutti.Collective(ring, "all_to_all_v", shares=matrix)
    assert made.size_bytes == 1005
    assert tutti.Collective(ring, "all_gather_v", shares=[10, 0, 4]).chunks["size_bytes"].sum() == 14
    assert tutti.Collective(ring, "all_to_all_v", "2010B", shares=matrix).size_bytes == 2010
    assert pickle.loads(pickle.dumps(made)) == made
    assert tutti.synthesize(made, "direct").verified
    with pytest.raises(ValueError, match="4 shares, but all_to_all_v among 3 members has 9"):
        tutti.Collective(ring, "all_to_all_v", shares=[[0, 1], [1, 0]])


def test_a_custom_collective(mesh):
    made = tutti.Collective.custom(mesh, [("1MiB", [0], [8], False), (1000, [0, 1], [4], True)])
    assert made.chunks.tolist()[1][0] == 1000
    assert (made.sources(1), made.destinations(1), made.parts[0]["kind"]) == ([0, 1], [4], "custom")
    assert tutti.synthesize(made, "tacos").verified
    with pytest.raises(IndexError, match="chunk 2 of 2"):
        made.sources(2)


def test_transfers_and_paths_are_those_of_the_file(mesh, tmp_path):
    made = tutti.synthesize(tutti.Collective(mesh, "all_reduce", "1MiB", chunks=2), "ring").schedule
    file = str(tmp_path / "s.json")
    made.save(file)
    import json

    written = json.load(open(file))
    table = made.columns()
    assert len(made) == len(made.transfers) == len(table["chunk"])
    assert tutti.Schedule.load(file, mesh).transfers.tolist() == made.transfers.tolist()
    assert pickle.loads(pickle.dumps(made)) == made
    crossed = np.zeros(mesh.link_count, dtype=int)
    for path in table["path"]:
        crossed[made.path(path)] += 1
    assert crossed.tolist() == made.replay().links["transfers"].tolist()
    assert len(written["transfers"]) == len(made)
    ends = mesh.links
    assert set(table["reduce"]) == {True, False}
    code = made.transfers["code"]
    for name, bit in (("reduce", _tutti.REDUCE), ("together", _tutti.TOGETHER), ("contiguous", _tutti.CONTIGUOUS)):
        assert table[name].tolist() == [bool(one & bit) for one in code.tolist()]
    assert ends["source"][made.path(table["path"][0])[0]] in range(9)
    with pytest.raises(IndexError):
        made.path(10**6)


def test_sends(mesh):
    gather = tutti.Collective(mesh, "all_gather", "9MiB", chunks=1)
    ring = [(r, (r + 1) % 9, (r - step) % 9, "copy") for step in range(8) for r in range(9)]
    made = tutti.Schedule.from_sends(gather, iter(ring), "mine")
    assert made.verify() and made.algorithm == "mine" and len(made) == 72
    waits = tutti.Schedule.from_sends(gather, [*ring[:9], (1, 2, 0, "copy", 0)])
    assert (waits.waiting.tolist(), waits.awaited.tolist()) == ([9], [(0, 1)])
    for bad, words in [([(0, 9, 0, "copy")], r"sends\[0\]: destination 9 isn't from 0 to 8"),
                       ([(0, 1, 99, "copy")], "chunk 99"), ([(0, 1, 0, "move")], "unknown operation move"),
                       ([(0, 0, 0, "copy")], "sends to itself"), ([(0, 1, 0, "copy", 0)], "after 0")]:
        with pytest.raises(tutti.InputError, match=words):
            tutti.Schedule.from_sends(gather, bad)
    for bad in ([(0, 1)], ["copy"], [(0.5, 1, 0, "copy")], [3]):
        with pytest.raises(TypeError, match=r"sends\[0\]"):
            tutti.Schedule.from_sends(gather, bad)


def test_arrays_outlive_their_owners_and_cannot_be_written():
    network = tutti.Topology(TEXT)
    made = tutti.synthesize(tutti.Collective(network, "all_gather", "1MiB", chunks=1), "tacos").schedule
    report = made.replay(deliveries=True, hops=True)
    arrays = [network.links, made.collective.chunks, made.transfers, made.path_offsets, made.path_links,
              made.transfers["code"][3:], report.links, report.chunk_done_ps, report.deliveries_ps, report.hops]
    before = [array.copy() for array in arrays]
    del network, made, report
    gc.collect()
    rest = [tutti.Topology(TEXT) for _ in range(50)]  # takes what would have been freed
    for array, copy in zip(arrays, before):
        assert not array.flags.writeable and not array.flags.owndata
        assert (array == copy).all()
        with pytest.raises(ValueError):
            array[0] = copy[0]
    assert rest


def test_no_copy_is_made(mesh):
    made = tutti.synthesize(tutti.Collective(mesh, "all_gather", "1MiB", chunks=4), "tacos").schedule
    at = [made.transfers.__array_interface__["data"][0] for _ in range(2)]
    assert at[0] == at[1]
    assert made.waiting.size == 0 and made.awaited.dtype.names == ("transfer", "milestone")
    with pytest.raises(tutti.InputError, match="blocks"):
        made.block(0)


@pytest.mark.parametrize("values", [(1, 2), (b"mesh2d:2x2",), (None,), ()])
def test_a_network_refuses_other_types(values):
    with pytest.raises(TypeError):
        tutti.Topology(*values)


def test_refusals_name_the_argument(mesh):
    with pytest.raises(TypeError, match="size: .*not float"):
        tutti.Collective(mesh, "all_reduce", 1.5)
    with pytest.raises(TypeError, match="size: .*not bool"):
        tutti.Collective(mesh, "all_reduce", True)
    with pytest.raises(tutti.InputError, match="size 0 must be at least 1 byte"):
        tutti.Collective(mesh, "all_reduce", 0)
    with pytest.raises(tutti.InputError, match="unit"):
        tutti.Collective(mesh, "all_reduce", "64")
    with pytest.raises(TypeError, match="topology"):
        tutti.Collective(None, "all_reduce")
    for keys, words in [({"kind": 3}, "kind"), ({"group": "0-1"}, "group"), ({"group": [0.5]}, "group"),
                        ({"group": [-1]}, "group"), ({"chunks": "2"}, "chunks"), ({"root": "npu0"}, "root"),
                        ({"size": 1 << 70}, "size: an int below")]:
        with pytest.raises(TypeError, match=f"^{words}"):
            tutti.Collective(mesh, **{"kind": "all_gather", **keys})
    with pytest.raises(tutti.InputError, match="chunks 0 isn't from 1"):
        tutti.Collective(mesh, "all_reduce", chunks=0)
    with pytest.raises(tutti.InputError, match="did you mean \"mesh2d\""):
        tutti.Topology("mesh2e:3x3")
    with pytest.raises(TypeError, match="collective: a tutti.Collective is expected, not Topology"):
        tutti.synthesize(mesh)
    made = tutti.Collective(mesh, "all_gather", "1MiB")
    for keys, words in [({"seed": -1}, "seed"), ({"threads": 0}, "threads"), ({"limit": True}, "limit"),
                        ({"progress": 3}, "progress"), ({"settings": ["a"]}, "settings"), ({"algorithm": 3}, "algorithm"),
                        ({"colour": "x"}, "colour"), ({"link_busy": 3}, "link_busy")]:
        with pytest.raises(TypeError, match=words):
            tutti.synthesize(made, **keys)
    with pytest.raises(TypeError, match="schedule"):
        tutti.replay(made)
    done = tutti.synthesize(made, "ring").schedule
    with pytest.raises(tutti.InputError, match="node 99"):
        done.replay(starts_s={99: 1e-6})
    with pytest.raises(ValueError, match="hops.*isn't in this report"):
        done.replay().to_pandas("hops")
    with pytest.raises(ValueError, match="links: the 24 rows"):
        _tutti.network_svg(mesh, "t", np.zeros(3), 1)


def test_the_place_of_an_error(tmp_path):
    file = tmp_path / "net.toml"
    file.write_text('npus = 2\n\n[[links]]\nfrom = "npu0"\nto = "npu1"\nbandwith = "1GB/s"\n')
    with pytest.raises(tutti.InputError) as raised:
        tutti.Topology(str(file))
    assert (raised.value.file, raised.value.line, raised.value.column) == (str(file), 6, 1)
    assert "bandwidth" in str(raised.value)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.line) == (str(raised.value), 6)
    assert tutti.InputError("no place in here: 3").file is None


def test_reports(mesh):
    made = tutti.synthesize(tutti.Collective(mesh, "all_reduce", "8MiB", chunks=1), "tacos").schedule
    report = made.replay("both", hops=True, deliveries=True)
    assert report.completion_ps == report.deliveries_ps.max() == report.chunk_done_ps.max()
    assert report.completion_s == pytest.approx(report.completion_ps / 1e12)
    assert report.links["transfers"].sum() == len(report.hops) == report.link_transfers
    assert (report.utilisation <= 1).all()
    late = made.replay(starts_s={0: 1e-3})
    assert late.completion_ps > 10**9
    again = pickle.loads(pickle.dumps(report))
    assert again.completion_ps == report.completion_ps and (again.links == report.links).all()
    for picture in (report._repr_svg_(), mesh._repr_svg_()):
        assert picture.startswith("<?xml") or picture.startswith("<svg")


def test_frames_have_units(mesh):
    pandas = pytest.importorskip("pandas")
    made = tutti.synthesize(tutti.Collective(mesh, "all_gather", "1MiB", chunks=1), "ring").schedule
    report = made.replay(hops=True, deliveries=True)
    frame = report.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns[:2]) == ["source", "destination"]
    assert frame.attrs["units"] == {"bytes": "bytes", "busy_ps": "ps"} or frame.attrs["units"] == {"busy_ps": "ps"}
    assert report.to_pandas("hops").attrs["units"] == {"start_ps": "ps", "end_ps": "ps"}
    assert len(report.to_pandas("deliveries")) == len(made)
    assert len(report.to_pandas("chunks")) == made.collective.chunk_count


def test_units_follow_from_names():
    from tutti.rows import unit_of

    assert [unit_of(name) for name in ("iterations_per_s", "algbw_bytes_per_s", "bytes", "time_s", "bytes_per_s", "steps")] \
        == ["1/s", "bytes/s", "bytes", "s", "bytes/s", None]


def test_collectives_that_cannot_be_are_refused(mesh):
    for kinds in ([], ()):
        with pytest.raises(tutti.InputError, match="kind: a collective needs a name"):
            tutti.Collective(mesh, kinds, "1MiB")
    with pytest.raises(tutti.InputError, match=r"there is no node 90 \(there are 9\)"):
        tutti.Collective.custom(mesh, [("1MiB", [90], [1], False)])
    custom = tutti.Collective.custom(mesh, [("1MiB", [0], [1], False)])
    with pytest.raises(tutti.InputError, match="chunk by chunk can't be cut"):
        custom.with_chunks(2)


def test_a_loaded_collective_can_be_cut(mesh, tmp_path):
    made = tutti.synthesize(tutti.Collective(mesh, "all_gather", "1MiB", chunks=2), "ring1").schedule
    made.save(str(tmp_path / "s.json"))
    loaded = tutti.Schedule.load(str(tmp_path / "s.json"), mesh).collective
    assert loaded == made.collective and loaded.chunks_asked == 2
    assert loaded.with_chunks(4).chunk_count == 36
