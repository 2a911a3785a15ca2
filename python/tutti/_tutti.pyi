"""The compiled module, with what tutti/__init__.py puts on top of its classes."""

from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

import networkx
import numpy as np
from numpy.typing import NDArray

from .values import Report, Verification

REDUCE: int
TOGETHER: int
CONTIGUOUS: int
PATH: int

_Heard = Optional[Callable[[str, int, int], object]]
_Quantity = Union[None, int, float, str]

class Topology:
    """A network: nodes with abilities, directed links, shared groups, perhaps coordinates.

    `text` is what `-t` of the command takes: a family ("mesh2d:4x4,bandwidth=50GB/s,latency=0.5us"),
    a machine ("dgx1"), or a file. Immutable. Errors: InputError."""

    def __init__(self, text: str) -> None: ...
    @staticmethod
    def from_toml(toml: str, source: str = ...) -> Topology:
        """From the text of a topology file; `source` is what errors call it."""
    @staticmethod
    def build(nodes: Union[int, Iterable[Union[str, Mapping[str, Any]]]],
              links: Iterable[Union[Sequence[Any], Mapping[str, Any]]], *, name: str = ...,
              bandwidth: _Quantity = ..., latency: _Quantity = ..., shape: Optional[Sequence[int]] = ...,
              groups: Iterable[Mapping[str, Any]] = ..., npu: Optional[str] = ...) -> Topology: ...
    @staticmethod
    def from_networkx(graph: networkx.Graph, *, bandwidth: _Quantity = ..., latency: _Quantity = ...,
                      name: Optional[str] = ...) -> Topology: ...
    def to_networkx(self) -> networkx.MultiDiGraph: ...
    def to_toml(self) -> str:
        """A topology file that is read back as the same network."""
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> Optional[str]:
        """From which the command makes the same network; None where only a file says what it is."""
    @property
    def note(self) -> str: ...
    @property
    def assumed(self) -> list[str]:
        """What a file of another program didn't say, in words."""
    @property
    def npu_count(self) -> int: ...
    @property
    def node_count(self) -> int: ...
    @property
    def link_count(self) -> int: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def nodes(self) -> list[dict[str, Any]]:
        """By id: name, kind, store, copy, reduce, reduce_rate_bytes_per_s, coordinate."""
    @property
    def groups(self) -> list[dict[str, Any]]:
        """Links with one joint bandwidth: name, bandwidth_bytes_per_s, links (ids)."""
    @property
    def links(self) -> NDArray[Any]:
        """[link_count], read-only and no copy: source, destination (node ids), latency_ps,
        bandwidth_bytes_per_s, dimension (-1: none)."""
    def node_id(self, name: str) -> int: ...
    def _repr_svg_(self) -> str: ...

class Collective:
    """What has to move on a network: `kind` as for `-c` of the command, or several that run at once.

    `size` is what nccl-tests prints (int bytes, or text with a unit), `chunks` the number of chunks
    per shard (None: as synthesis chooses), `root` a node id, `group` node ids in the order of ranks.
    `shares` are of all_to_all_v, an array of bytes in which row i says what rank i sends to each, or
    of all_gather_v and reduce_scatter_v, a share for each rank; `size` scales them. Without a size
    they stay as they are; what says no size has 1 GiB. Errors: InputError, TypeError."""

    def __init__(self, topology: Topology, kind: Union[str, Sequence[str]], size: Union[int, str, None] = ...,
                 *, chunks: Optional[int] = ..., root: Optional[int] = ...,
                 group: Optional[Sequence[int]] = ..., shares: Any = ...) -> None: ...
    @staticmethod
    def custom(topology: Topology,
               chunks: Sequence[tuple[Union[int, str], Sequence[int], Sequence[int], bool]]) -> Collective:
        """Chunk by chunk: (size, nodes that hold or contribute to it, nodes that want it, whether it
        is reduced)."""
    @property
    def topology(self) -> Topology: ...
    @property
    def chunks_asked(self) -> Optional[int]: ...
    @property
    def text(self) -> str: ...
    @property
    def request(self) -> list[str]: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def chunk_count(self) -> int: ...
    @property
    def parts(self) -> list[dict[str, Any]]:
        """One for each collective: kind, size_bytes, group (node ids by rank), root (a rank),
        chunks_per_shard, first (chunk), chunk_count."""
    @property
    def chunks(self) -> NDArray[Any]:
        """[chunk_count], read-only and no copy: size_bytes, sources, destinations (ids of sets),
        reduces."""
    def sources(self, chunk: int) -> list[int]: ...
    def destinations(self, chunk: int) -> list[int]: ...
    def with_chunks(self, chunks: int) -> Collective: ...

class Schedule:
    """An ordered list of transfers for a collective, or the compact form of one that is too long to
    list. Immutable. What it means: docs/model.md."""

    @staticmethod
    def from_sends(collective: Collective, sends: Iterable[Sequence[Any]], name: str = ...) -> Schedule:
        """From (source, destination, chunk, "copy" | "reduce"[, after]): ranks of the group, a chunk's
        number, the index of an earlier send that has to arrive first. Each is a transfer along the
        routed path between its ranks. Errors: InputError and TypeError with its index."""
    @staticmethod
    def load(file: str, topology: Topology) -> Schedule:
        """From a schedule file (docs/formats/schedule.md). Errors: InputError."""
    def save(self, file: str) -> None:
        """Writes a schedule file: JSON if its name ends in .json, else binary."""
    @property
    def collective(self) -> Collective: ...
    @property
    def topology(self) -> Topology: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def is_compact(self) -> bool: ...
    def __len__(self) -> int: ...
    def compacted(self) -> Optional[Schedule]:
        """In the compact form, 2 or 4 bytes a transfer; None where it has none: it reduces, say."""
    def expanded(self) -> Schedule:
        """As a list; itself where it is one. Errors: InputError where that is too long."""
    @property
    def transfers(self) -> NDArray[Any]:
        """[len], read-only and no copy: chunk, and code: the path's id (& PATH), and bits for REDUCE,
        TOGETHER, CONTIGUOUS. `columns` has them apart. Errors: InputError where it is compact."""
    def columns(self) -> dict[str, NDArray[Any]]: ...
    @property
    def path_offsets(self) -> NDArray[np.int64]:
        """[paths + 1], read-only and no copy: path p is path_links[path_offsets[p]:path_offsets[p + 1]]."""
    @property
    def path_links(self) -> NDArray[np.uint32]: ...
    def path(self, path: int) -> NDArray[np.uint32]: ...
    @property
    def waiting(self) -> NDArray[np.uint32]:
        """Transfers that wait for others by name, ascending; `awaited` says for which."""
    @property
    def awaited(self) -> NDArray[Any]:
        """transfer, and milestone: 0 it has left, 1 it has arrived."""
    def block(self, link: int, reductions: bool = ...) -> NDArray[Any]:
        """Of a compact schedule: the chunks that cross a link as copies, in order, or before those
        as reductions; no copy."""
    def blocks(self, reductions: bool = ...) -> Iterator[tuple[int, NDArray[Any]]]: ...
    def verify(self, *, progress: Any = ...) -> Verification: ...
    def replay(self, engine: str = ..., *, deliveries: bool = ..., hops: bool = ...,
               starts_s: Optional[Mapping[int, float]] = ..., progress: Any = ..., **model: str) -> Report: ...

def is_main_interpreter() -> bool: ...
def versions() -> dict[str, str]: ...
def version() -> str: ...
def algorithm_names() -> list[str]: ...
def simgrid_worker() -> str: ...
def parse_bytes(text: str) -> int: ...
def parse_time(text: str) -> int: ...
def short_time(ps: int) -> str: ...
def network_svg(topology: Topology, title: str, links: NDArray[Any], duration_ps: int) -> str: ...
def synthesize(collective: Collective, algorithm: str, options: dict[str, Any], progress: _Heard) -> dict[str, Any]: ...
def verify(schedule: Schedule, progress: _Heard) -> dict[str, Any]: ...
def replay(schedule: Schedule, engine: str, model: dict[str, str], deliveries: bool, hops: bool,
           starts_s: dict[int, float], progress: _Heard) -> dict[str, Any]: ...
def bound(collective: Collective, effort: str, at_chunks: bool, model: dict[str, str]) -> dict[str, Any]: ...
