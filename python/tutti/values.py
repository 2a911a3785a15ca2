"""What functions answer: plain values, whose arrays are NumPy's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _tutti
from .rows import frame

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Verification:
    """What the checker says, which shares no code with algorithms or engines.

    `fault` is the first fault in words, `transfer` its place in the schedule; both are None where the
    schedule is correct. `redundant` counts copies that add nothing."""

    correct: bool
    fault: Optional[str]
    transfer: Optional[int]
    redundant: int

    def __bool__(self) -> bool:
        return self.correct


@dataclass(frozen=True)
class Bound:
    """No schedule of the collective takes less than `time_ps` (int, picoseconds).

    `kind` and `certificate` say in words what proves it, `inside` lists the nodes (ids) that a cut
    separates from the others. Theorems and sources: docs/bounds.md."""

    time_ps: int
    kind: str
    certificate: str
    inside: list[int]

    @property
    def time_s(self) -> float:
        return self.time_ps * 1e-12


@dataclass(frozen=True)
class Outcome:
    """What came of a synthesis.

    `status` is "optimal", "feasible", "infeasible" (proven for anybody), "unsupported" (`note` says
    why), "timed_out" or "out_of_memory". `schedule` is there with the first two, and may be with
    "timed_out"; `verification` is what the checker says of it and `problem` a defect in words, else
    empty. `chunks` is the number of chunks per shard, `bound_ps` a lower bound that the algorithm
    proved itself, `planned_ps` the time that it expects on its own picture of the network
    (`planned_on`), `facts` what else it knows. `synthesis_s` and `verify_s` are CPU seconds."""

    status: str
    algorithm: str
    schedule: Optional[_tutti.Schedule] = None
    note: str = ""
    verification: Optional[Verification] = None
    problem: str = ""
    chunks: int = 1
    routing: str = ""
    bound_ps: Optional[int] = None
    planned_ps: Optional[int] = None
    planned_on: str = ""
    facts: dict[str, float] = field(default_factory=dict)
    synthesis_s: float = 0.0
    verify_s: float = 0.0

    @property
    def verified(self) -> bool:
        """Whether there is a schedule that the checker accepts."""
        return self.verification is not None and self.verification.correct


@dataclass(frozen=True, eq=False)
class Report:
    """What a replay says. Times are int picoseconds, rates bytes per second.

    `links` has a row for each link of the network: `bytes`, `busy_ps`, `transfers`. `chunk_done_ps`
    has the last delivery of each chunk. Where they were asked for, `deliveries_ps` has the delivery
    of each transfer and `hops` each crossing of a link (`transfer`, `link`, `start_ps`, `end_ps`);
    else they are None. When things happen: docs/model.md."""

    topology: _tutti.Topology
    collective: _tutti.Collective
    algorithm: str
    engine: str
    discipline: str
    link_busy: str
    forwarding: str
    completion_ps: int
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    link_transfers: int
    links: NDArray[Any]
    chunk_done_ps: NDArray[np.int64]
    deliveries_ps: Optional[NDArray[np.int64]] = None
    hops: Optional[NDArray[Any]] = None

    @property
    def completion_s(self) -> float:
        return self.completion_ps * 1e-12

    @property
    def utilisation(self) -> NDArray[np.float64]:
        """For each link the part of the time, 0 to 1, in which it was busy."""
        busy: NDArray[np.float64] = self.links["busy_ps"] / max(self.completion_ps, 1)
        return busy

    def to_pandas(self, what: str = "links") -> pandas.DataFrame:
        """`what`: "links", "deliveries", "hops" or "chunks". Units are in `attrs["units"]`.

        Errors: ValueError for what wasn't recorded, or another word."""
        known = {"links": self.links, "deliveries": self.deliveries_ps, "hops": self.hops,
                 "chunks": self.chunk_done_ps}
        if known.get(what) is None:
            there = ", ".join(name for name, data in known.items() if data is not None)
            raise ValueError(f"what: {what!r} isn't in this report (there are {there})")
        if what in ("deliveries", "chunks"):
            return frame({"delivered_ps": known[what]}, completion_ps=self.completion_ps)
        made = frame(known[what], completion_ps=self.completion_ps)
        if what == "links":
            names = np.array([node["name"] for node in self.topology.nodes], dtype=object)
            ends = self.topology.links
            made.insert(0, "destination", names[ends["destination"]])
            made.insert(0, "source", names[ends["source"]])
            made["utilisation"] = self.utilisation
        return made

    def _repr_svg_(self) -> str:
        title = (f"{self.collective.text} on {self.topology.name} by {self.algorithm}: "
                 f"{_tutti.short_time(self.completion_ps)}")
        return _tutti.network_svg(self.topology, title, self.links, self.completion_ps)

    def __repr__(self) -> str:
        return (f"<tutti.Report of {self.collective.text} by {self.algorithm} on {self.engine}: "
                f"{_tutti.short_time(self.completion_ps)}>")
