"""Tutti: collective algorithms for any network, verified and simulated.

    import tutti
    network = tutti.Topology("mesh2d:4x4,bandwidth=50GB/s,latency=0.5us")
    outcome = tutti.synthesize(tutti.Collective(network, "all_reduce", "64MiB"), "tacos")
    tutti.replay(outcome.schedule)

Sizes are int bytes or text with a unit ("64MiB"); times are float seconds in names that end in `_s`
and exact int picoseconds in names that end in `_ps`. Bad input is `InputError`, what can't be is a
status, Ctrl-C is `Interrupted` with the best so far."""

from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

try:
    from . import _tutti

    if not _tutti.is_main_interpreter():  # before NumPy, which says it in other words
        raise RuntimeError("tutti works in the main interpreter only, not in subinterpreters")
    import numpy as _numpy
except ImportError as _error:
    raise ImportError(
        f"{_error}. Tutti's module is built for the distribution's own Python, /usr/bin/python3, and "
        f"its packages; this is {_sys.version.split()[0]} ({_sys.executable}). Start "
        "`./tutti python FILE`, or make an environment by "
        "`/usr/bin/python3 -m venv --system-site-packages FOLDER`.") from _error

from . import networks as _networks
from ._tutti import Collective, Schedule, Topology
from .errors import InputError, Interrupted
from .rows import Rows
from .values import Bound, Outcome, Report, Verification
from .work import Options, algorithm, bound, replay, synthesize, unsupported, verify

if _TYPE_CHECKING:
    from .studies import (Experiment, Results, command, compare, failures, frontier, jobs, read_store, run,
                          sweep, train)

__version__ = _tutti.version()
__all__ = ["Bound", "Collective", "Experiment", "InputError", "Interrupted", "Options", "Outcome",
           "Report", "Results", "Rows", "Schedule", "Topology", "Verification", "algorithm", "bound",
           "command", "compare", "failures", "frontier", "jobs", "read_store", "replay", "run",
           "show_versions", "sweep", "synthesize", "train", "unsupported", "verify"]


def __getattr__(name: str) -> _Any:
    """What starts programs is imported when it is first asked for, with all that it needs."""
    from importlib import import_module

    if name == "studies":
        return import_module("tutti.studies")
    if name in __all__:
        return getattr(import_module("tutti.studies"), name)
    raise AttributeError(f"module 'tutti' has no attribute {name!r}")


for _class in (Topology, Collective, Schedule):
    _class.__module__ = "tutti"


def _columns(schedule: Schedule) -> dict[str, _Any]:
    """The transfers column by column: `chunk` and `path` (ids), `reduce`, `together` and `contiguous`
    (bool), each an array with an element for each transfer. These are copies; `transfers` is none."""
    transfers = schedule.transfers
    flags = {"reduce": _tutti.REDUCE, "together": _tutti.TOGETHER, "contiguous": _tutti.CONTIGUOUS}
    top = transfers.view(_numpy.uint8)[7::8].copy()  # all flags are in the last byte of `code`
    return {"chunk": _numpy.ascontiguousarray(transfers["chunk"]),
            "path": transfers["code"] & _numpy.uint32(_tutti.PATH),
            **{name: (top & _numpy.uint8(bit >> 24)) != 0 for name, bit in flags.items()}}


def _path(schedule: Schedule, path: int) -> _Any:
    """The links (ids) of a path, in order. Errors: IndexError."""
    offsets = schedule.path_offsets
    if not 0 <= path < len(offsets) - 1:
        raise IndexError(f"path {path} of {len(offsets) - 1}")
    return schedule.path_links[int(offsets[path]):int(offsets[path + 1])]


def _blocks(schedule: Schedule, reductions: bool = False) -> _Any:
    """Of a compact schedule: for each link (id, chunks that cross it in order), without copies: of
    its reductions, which come first, or of its copies."""
    for link in range(schedule.topology.link_count):
        yield link, schedule.block(link, reductions)


# What Python does on top of the C++ classes; _tutti.pyi declares it as theirs.

setattr(Topology, "build", staticmethod(_networks.build))
setattr(Topology, "from_networkx", staticmethod(_networks.from_networkx))
setattr(Topology, "to_networkx", _networks.to_networkx)
setattr(Schedule, "columns", _columns)
setattr(Schedule, "path", _path)
setattr(Schedule, "blocks", _blocks)
setattr(Schedule, "verify", verify)
setattr(Schedule, "replay", replay)


def show_versions() -> dict[str, str]:
    """Prints, and returns, what matters for a report of a defect."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from .studies import command

    try:
        program = command()
    except InputError:
        program = "none"
    found = {**_tutti.versions(), "python": platform.python_version(),
             "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.platform()),
             "module": _tutti.__file__, "command": program, "simgrid_worker": _tutti.simgrid_worker()}
    for package in ("numpy", "pandas", "networkx", "matplotlib", "tqdm"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    for name, text in found.items():
        print(f"{name}: {text}")
    return found
