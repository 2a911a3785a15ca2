"""What the tests of the Python package share. They need no package beside NumPy and pytest; those of
pandas, networkx and matplotlib are skipped where it isn't there."""

import json
import subprocess

import pytest

import tutti


@pytest.fixture
def mesh():
    return tutti.Topology("mesh2d:3x3,bandwidth=50GB/s,latency=0.5us")


@pytest.fixture
def command():
    """The rows that the command prints as JSON for these arguments."""

    def answer(*arguments):
        done = subprocess.run([tutti.command(), *arguments, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout)["runs"]

    return answer
