"""The wheel: built and installed without a network by the distribution's Python, whole without the
checkout, and refused by another Python before anything is built."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import tutti

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import os, tutti
versions = tutti.show_versions()
here = os.path.dirname(tutti.__file__)
assert here.startswith(os.environ["LAB"]) and versions["command"] == os.path.join(here, "bin", "tutti")
assert versions["simgrid_worker"] == os.path.join(here, "tutti_simgrid_worker"), versions
network = tutti.Topology("dgx1")  # a file of the wheel
made = tutti.synthesize(tutti.Collective(network, "all_reduce", "1MiB"), "ring").schedule
assert made.replay("both").completion_ps > 0
assert tutti.run("quickstart", algorithm="ring", size="1MiB").rows
import importlib.metadata
print(importlib.metadata.version("tutti"))
"""


@pytest.mark.slow
def test_a_wheel_is_whole(tmp_path):
    if pathlib.Path(tutti.command()) != ROOT / "build" / "release" / "tutti":
        pytest.skip("another build folder: wheels are built in build/release")
    pytest.importorskip("ensurepip")
    lab = tmp_path / "lab"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", str(lab)], check=True)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MALLOC_PERTURB_")}
    installed = subprocess.run([str(lab / "bin" / "pip"), "install", "--no-build-isolation", "--no-index", "."],
                               cwd=ROOT / "python", env=environment, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    done = subprocess.run([str(lab / "bin" / "python"), "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True,
                          env={**environment, "LAB": str(lab)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert tutti.__version__ + "+" in done.stdout.splitlines()[-1]


def test_another_python_builds_nothing(tmp_path):
    others = [p for p in [shutil.which("python3"), *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))]
              if p and os.path.realpath(p) != os.path.realpath(sys.executable)]
    if not others:
        pytest.skip("there is no other Python here")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([others[0], "-c", "import backend"], cwd=ROOT / "python", capture_output=True, text=True,
                          env={**environment, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode != 0
    assert "/usr/bin/python3 -m venv --system-site-packages" in done.stderr
