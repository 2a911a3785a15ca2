"""Threads, forks, signals and interpreters: what a program with Tutti in it may do."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tutti

TEXT = "mesh2d:3x3,bandwidth=50GB/s,latency=0.5us"


def completion(chunks):
    made = tutti.synthesize(tutti.Collective(tutti.Topology(TEXT), "all_reduce", "8MiB", chunks=chunks), "tacos")
    return made.schedule.replay("simgrid").completion_ps


def run(program, **keys):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, **keys)


def test_threads_synthesize_at_once():
    alone = [completion(chunks) for chunks in range(1, 5)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(completion, range(1, 5))) == alone


def test_work_lets_other_threads_run():
    network = tutti.Topology("torus2d:12x12")
    asked, seen = tutti.Collective(network, "all_reduce", "1GiB", chunks=16), []
    work = threading.Thread(target=lambda: seen.append(tutti.synthesize(asked, "tacos", threads=1)))
    work.start()
    turns = 0
    while work.is_alive():
        time.sleep(0.001)
        turns += 1
    assert seen[0].verified and turns > 5


def test_forks_and_processes():
    here = completion(2)
    child = os.fork()
    if child == 0:
        os._exit(0 if completion(2) == here else 1)
    assert os.waitpid(child, 0)[1] == 0
    for method in ("fork", "spawn"):
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
            assert pool.submit(completion, 2).result() == here


def test_values_cross_processes():
    made = tutti.synthesize(tutti.Collective(tutti.Topology(TEXT), "all_gather", "1MiB", chunks=1), "tacos")
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert pool.submit(tutti.verify, made.schedule).result()
        report = pool.submit(tutti.replay, made.schedule).result()
    assert report.completion_ps == made.schedule.replay().completion_ps
    assert pickle.loads(pickle.dumps(made)).schedule == made.schedule


def test_subinterpreters_are_refused():
    done = run("""
        import tutti, _xxsubinterpreters as interpreters
        other = interpreters.create()
        try:
            interpreters.run_string(other, "import tutti")
        except Exception as error:
            print(error)
        """)
    assert "not in subinterpreters" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


LONG = f"""
    import os, signal, sys, threading, time
    import tutti
    asked = tutti.Collective(tutti.Topology("{{network}}"), "all_reduce", "1GiB", chunks={{chunks}})
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.time()
    try:
        tutti.synthesize(asked, "{{algorithm}}", settings={{settings}})
    except KeyboardInterrupt as interrupted:
        assert isinstance(interrupted, tutti.Interrupted)
        assert time.time() - begin < 20
        best = interrupted.best
        print("interrupted", best is not None and bool(best.verify()))
    """


@pytest.mark.parametrize("network,chunks,algorithm,settings,best", [
    ("dgx1", 40, "sccl", {}, "True"), ("torus2d:40x40", 8, "tacos", {}, "False")])
def test_ctrl_c_keeps_the_best(network, chunks, algorithm, settings, best):
    done = run(LONG.format(network=network, chunks=chunks, algorithm=algorithm, settings=settings), timeout=60)
    assert done.stdout.split() == ["interrupted", best], done.stdout + done.stderr


def test_ctrl_c_ends_algorithms_in_python_and_handlers_are_kept():
    network = tutti.Topology(TEXT)

    def forever(topology, collective, options):
        signal.raise_signal(signal.SIGINT)
        yield 0, 1, 0, "copy"

    with pytest.raises(tutti.Interrupted) as raised:
        tutti.synthesize(tutti.Collective(network, "all_gather", "1MiB"), forever)
    assert raised.value.best is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_ends_a_study():
    done = run("""
        import os, signal, threading
        import tutti
        threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
        study = tutti.Experiment("long", topologies={"t": "torus2d:16x16"}, runs=[{
            "collectives": ["all_reduce"], "sizes": ["1GiB"], "algorithms": ["ring", "tacos"], "chunks": 1,
            "settings": {"starts": "100000"}}])
        try:
            study.run()
        except tutti.Interrupted as interrupted:
            print("interrupted", type(interrupted.best).__name__)
        """, timeout=60)
    assert done.stdout.split()[:1] == ["interrupted"], done.stdout + done.stderr


def test_work_ends_with_the_interpreter():
    done = run("""
        import threading, time, tutti
        asked = tutti.Collective(tutti.Topology("torus2d:40x40"), "all_reduce", "1GiB", chunks=8)
        threading.Thread(target=tutti.synthesize, args=(asked, "tacos"), daemon=True).start()
        time.sleep(0.2)
        """, timeout=60)
    assert done.returncode == 0, done.stderr


def test_another_python_is_told_what_to_do(tmp_path):
    broken = tmp_path / "tutti"
    broken.mkdir()
    source = os.path.dirname(tutti.__file__)
    for name in os.listdir(source):
        if name.endswith(".py"):
            (broken / name).write_text(open(os.path.join(source, name)).read())
    done = run("import tutti", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert "is built for the distribution's own Python" in done.stderr and "./tutti python" in done.stderr


def test_import_takes_no_heavy_package():
    done = run("""
        import sys, tutti
        print([name for name in ("pandas", "networkx", "matplotlib", "tqdm", "concurrent.futures.process") if name in sys.modules])
        """)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
