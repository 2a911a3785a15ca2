"""Studies: experiments there and back, each kind against the command, sweeps, and what is refused."""

import json

import pytest

import tutti
from tutti.toml import dumps

NETWORK = "ring:4,bandwidth=50GB/s,latency=0.5us"


def small(**more):
    return tutti.Experiment("small", topologies={"net": NETWORK}, **{"runs": [{
        "collectives": ["all_gather"], "sizes": ["1MiB"], "algorithms": ["ring", "direct"], "chunks": 1,
        "engine": "native"}], **more})


def test_toml_is_read_back():
    import tomllib

    content = {"a": 1, "b": [1.5, "x\n\"y\" \\"], "t": {"k y": True, "n": {"deep": [{"z": 1}]}},
               "runs": [{"x": {"y": "é"}, "list": [{"a": 1}, {"a": 2}]}, {}], "none": None, "big": 1e300}
    read = tomllib.loads(dumps(content))
    assert read == {key: value for key, value in content.items() if value is not None}
    assert tomllib.loads(dumps({"sizes": [1024, "1MiB"]})) == {"sizes": ["1024B", "1MiB"]}
    with pytest.raises(TypeError, match="bad: TOML has no object"):
        dumps({"bad": object()})


def test_an_experiment_is_a_file_that_the_command_repeats(tmp_path, command):
    own = tutti.Topology.build(3, [("npu0", "npu1"), ("npu1", "npu2")], bandwidth="1GB/s", latency="1us")
    study = small()
    study.content["topologies"]["own"] = own
    study.content["runs"][0]["topologies"] = ["net", "own"]
    with pytest.raises(tutti.InputError, match="save"):
        study.to_toml()
    made = study.run()
    study.save(tmp_path / "small.toml")
    rows = command("run", str(tmp_path / "small.toml"), "--out", str(tmp_path / "out"))
    clocks = {key for row in rows for key in row if key.endswith("_seconds")} | {"peak_rss_bytes"}

    def timeless(all_rows):
        return [{k: v for k, v in row.items() if k not in clocks} for row in all_rows]

    assert timeless(made.rows) == timeless(rows) and len(rows) == 4
    again = tutti.Experiment.from_toml(tmp_path / "small.toml")
    assert timeless(again.run().rows) == timeless(rows)
    assert list(tmp_path.glob(".tutti-*")) == []
    assert made.ok and "network_net" in made.figures and made.figures["network_net"]._repr_svg_().count("<svg") == 1
    text = small().to_toml()
    assert tutti.Experiment.from_toml(text) == small() and tutti.Experiment.from_toml(text).to_toml() == text


def test_networks_beside_an_experiment_are_their_own(tmp_path):
    one, two = (tutti.Topology.build(n, [("npu0", "npu1")], bandwidth="1GB/s", latency="1us") for n in (2, 3))
    runs = [{"collectives": ["all_gather"], "sizes": ["1MiB"], "algorithms": ["ring"], "chunks": 1, "engine": "native"}]
    for name, networks in [("a", {"a+b": one, "a-b": two}), ("b", {"a+b": two}), ("a", {"a+b": one, "a-b": two})]:
        tutti.Experiment("s", topologies=networks, runs=runs).save(tmp_path / f"{name}.toml")
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["a.toml", "a_a_b.toml", "a_a_b_2.toml", "b.toml", "b_a_b.toml"]
    read = tutti.Experiment.from_toml(tmp_path / "a.toml").content["topologies"]
    assert [tutti.Topology(str(tmp_path / file)) for file in read.values()] == [one, two]
    study = tutti.Experiment.from_toml(tmp_path / "b.toml")
    study.content["topologies"]["more"] = one
    before = sorted(tmp_path.iterdir())
    assert len(study.run().rows) == 2 and sorted(tmp_path.iterdir()) == before


def test_a_name_is_no_place(tmp_path):
    victim = tmp_path / "victim.toml"
    victim.write_text("mine")
    with pytest.raises(tutti.InputError):
        tutti.Experiment(str(tmp_path / "victim"), topologies={"net": NETWORK}, runs=small().content["runs"], x=1).run()
    assert victim.read_text() == "mine"


def test_verdicts_and_problems():
    made = small(expect=[{"label": "ring is slow", "of": {"algorithm": "ring"}, "metric": "collective_time_ps",
                          "value": "1s", "tolerance": "1%"}])
    heard: list[tuple[object, ...]] = []
    loud, made = made.run(progress=lambda *what: heard.append(what)), made.run()
    assert loud.problems == made.problems and loud.problems and heard
    assert not made.ok and made.problems and len(made.verdicts) == 1
    assert made.verdicts[0]["label"] == "ring is slow" and len(made.rows) == 2


@pytest.mark.parametrize("line,is_progress", [
    ("ring all_gather: synthesis by ring", True), ("its workload", True), ("network, ring, undisturbed: begins", True),
    ("tacos all_reduce: replay on simgrid, fifo: 3/12, 25 %", True), ("tacos: 5/9 deliveries, 55 %, 3/s", True),
    ("ring on n: 1 failed link, seed 1: reroute complete at 36.63 us", True),
    ("all_gather on n: (2,2,3), 3/2 rounds per chunk, SAT, 4-fold symmetric, 0.000 s", True),
    ("ring on n, all_reduce 1MiB: fault: transfer 3/4 is wrong", False), ("out: 3 of 4 answers are wrong", False)])
def test_progress_is_no_problem(line, is_progress):
    from tutti.studies import _said

    assert _said(f"tutti: {line}\n", "/tmp") == ([] if is_progress else [line])


def test_frames(tmp_path):
    pytest.importorskip("pandas")
    frame = small().run(out=tmp_path / "kept").to_pandas()
    assert frame.attrs["units"]["collective_time_ps"] == "ps"
    assert frame.attrs["units"]["algbw_bytes_per_s"] == "bytes/s"
    assert frame["collective_time_ps"].dtype == "int64" and "label" not in frame
    assert (tmp_path / "kept" / "results.json").is_file()


def test_each_kind_is_its_table(command, tmp_path):
    made = tutti.frontier("ring:4", "all_gather", sizes=["1KiB"])
    assert {row["kind"] for row in made.rows} == {"frontiers"} and made.figures
    assert [row["C"] for row in made.rows] == [row["C"] for row in command("frontier", "-t", "ring:4", "-c", "all_gather", "--size", "1KiB")] \
        if "C" in made.rows[0] else len(made.rows) > 0
    failed = tutti.failures("torus2d:3x3", "all_reduce", size=1 << 20, chunks=1, algorithms=["ring"], failed_links=[1])
    assert {row["kind"] for row in failed.rows} == {"failures"}
    trained = tutti.train("ring:2,bandwidth=100GB/s", model="gpt3_small", npu="a100", micro_batches=1,
                          algorithms=["ring"], chunks=1, cache="none", parallel={"data": 2})
    assert trained.rows[0]["kind"] == "training"
    both = tutti.jobs("ring:4", [{"name": name, "collective": "all_gather", "size": 1 << 20, "chunks": 1} for name in "AB"],
                      algorithms=["ring"], engine="native")
    assert [(row["kind"], row["job"]) for row in both.rows] == [("jobs", "A"), ("jobs", "B")]


def test_a_log_beside_its_prediction(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("collective,npus,bytes,time_us\nall_reduce,8,1048576,100\nall_reduce,8,1073741824,9000\n")
    made = tutti.compare(log, tutti.Topology("dgx1"), algorithm="ring")
    assert [row["size_bytes"] for row in made.rows] == [1 << 20, 1 << 30] and "compare" in made.figures
    with pytest.raises(tutti.InputError, match="none.csv"):
        tutti.compare(tmp_path / "none.csv", "dgx1")


def test_bad_studies_are_refused_by_place():
    with pytest.raises(tutti.InputError, match="colour") as raised:
        tutti.frontier("ring:4", "all_gather", colour=1)
    assert raised.value.line and "/tmp" not in str(raised.value)
    with pytest.raises(tutti.InputError, match="rign"):
        tutti.frontier("rign:4", "all_gather")
    with pytest.raises(tutti.InputError, match="no_such"):
        tutti.run("no_such_experiment")
    with pytest.raises(tutti.InputError):
        tutti.Experiment.from_toml("a = \n")


def test_a_grid_of_a_function():
    def square(x, y):
        return {"sum": x + y} if x else x

    rows = tutti.sweep({"x": [0, 1], "y": range(2)}, square, jobs=2)
    assert rows == [{"x": 0, "y": 0, "result": 0}, {"x": 0, "y": 1, "result": 0},
                    {"x": 1, "y": 0, "sum": 1}, {"x": 1, "y": 1, "sum": 2}]
    with pytest.raises(ZeroDivisionError) as failed:
        tutti.sweep({"x": [1, 0]}, lambda x: 1 / x)
    assert failed.value.__notes__ == ["at {'x': 0}"]
    with pytest.raises(TypeError, match="space: a: a list of values is expected, not the text 'ring'"):
        tutti.sweep({"a": "ring"}, square)
    with pytest.raises(TypeError, match="function"):
        tutti.sweep({"x": [1]})

    def stopped(x):
        if x == 3:
            raise KeyboardInterrupt
        return x

    with pytest.raises(tutti.Interrupted) as raised:
        tutti.sweep({"x": [1, 2, 3]}, stopped, jobs=1)
    assert raised.value.best[:1] == [{"x": 1, "result": 1}]


def test_a_sweep_of_the_command(tmp_path):
    file = tmp_path / "sizes.toml"
    file.write_text("""name = "sizes"
[parameters]
size = ["64KiB", "1MiB"]
[experiment]
topologies = {net = "switch:8"}
[[experiment.runs]]
collectives = ["all_reduce"]
sizes = ["${size}"]
algorithms = ["ring"]
chunks = 1
engine = "native"
""")
    rows = tutti.sweep(file, out=tmp_path / "out", jobs=1)
    assert [row["size"] for row in rows] == [65536, 1 << 20]
    assert rows[0]["collective_time_s"] == pytest.approx(1.555648e-05)
    assert tutti.sweep(tmp_path / "out" / "sweep.sqlite") == rows
    assert rows.units["size"] == "bytes"
    with pytest.raises(tutti.InputError, match="no such store"):
        tutti.read_store(tmp_path / "none.sqlite")


def test_versions(capsys, monkeypatch):
    found = tutti.show_versions()
    assert found["tutti"] == tutti.__version__ and found["numpy"] in capsys.readouterr().out
    assert json.dumps(found)
    monkeypatch.setenv("TUTTI_COMMAND", "/no/such/tutti")
    assert tutti.show_versions()["command"] == "none"
