"""Networks of one's own: from nodes and links, and from and to networkx. They become a topology file
(docs/formats/topology.md), so that one reader checks what a network may be."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

from . import _tutti
from .toml import dumps

if TYPE_CHECKING:
    import networkx

Quantity = Union[None, int, float, str]
_KINDS = ("npu", "switch", "memory")


def _time(value: Quantity) -> Optional[str]:
    """Text with a unit; a number is seconds."""
    return f"{round(value * 1e12)}ps" if isinstance(value, (int, float)) else value


def _rate(value: Quantity) -> Optional[str]:
    """Text with a unit; a number is bytes per second."""
    return f"{round(value)}B/s" if isinstance(value, (int, float)) else value


def _link(link: Union[Sequence[Any], Mapping[str, Any]], position: int) -> dict[str, Any]:
    if isinstance(link, Mapping):
        made = dict(link)
        renamed = {"source": "from", "destination": "to"}
    elif isinstance(link, (tuple, list)) and 2 <= len(link) <= 4:
        made, renamed = dict(zip(("from", "to", "bandwidth", "latency_s"), link)), {}
    else:
        raise TypeError(f"links[{position}]: (source, destination[, bandwidth, latency]) or a dict is "
                        f"expected, not {link!r}")
    made = {renamed.get(key, key): value for key, value in made.items()}
    if "latency_s" in made:
        made["latency"] = _time(made.pop("latency_s"))
    if "bandwidth" in made:
        made["bandwidth"] = _rate(made["bandwidth"])
    return {key: value for key, value in made.items() if value is not None}


def build(nodes: Union[int, Iterable[Union[str, Mapping[str, Any]]]],
          links: Iterable[Union[Sequence[Any], Mapping[str, Any]]], *, name: str = "network",
          bandwidth: Quantity = None, latency: Quantity = None, shape: Optional[Sequence[int]] = None,
          groups: Iterable[Mapping[str, Any]] = (), npu: Optional[str] = None) -> _tutti.Topology:
    """A network of one's own.

    `nodes` is a number of NPUs (npu0, npu1, ...), or a list of NPUs' names and of dictionaries with
    the keys of `[[nodes]]` (docs/formats/topology.md); NPUs come first. A link is (source,
    destination[, bandwidth, latency]) or a dictionary with the keys of `[[links]]`, and goes both
    ways unless it is `directed`. `bandwidth` and `latency` are those of links without their own: text
    with a unit, or bytes per second and seconds. `npu` is the NPUs' model ("h100"). Errors: InputError,
    TypeError."""
    content: dict[str, Any] = {"name": name, **({} if npu is None else {"npu": npu})}
    if isinstance(nodes, int):
        content["npus"] = nodes
    else:
        content["nodes"] = [{"name": n, "kind": "npu"} if isinstance(n, str) else dict(n) for n in nodes]
    if shape is not None:
        content["shape"] = list(shape)
    defaults = {"bandwidth": _rate(bandwidth), "latency": _time(latency)}
    content["defaults"] = {key: value for key, value in defaults.items() if value is not None}
    content["links"] = [_link(link, i) for i, link in enumerate(links)]
    content["groups"] = [{**g, "bandwidth": _rate(g.get("bandwidth"))} for g in groups]
    return _tutti.Topology.from_toml(dumps({k: v for k, v in content.items() if v != [] and v != {}}), name)


def from_networkx(graph: networkx.Graph, *, bandwidth: Quantity = None, latency: Quantity = None,
                  name: Optional[str] = None) -> _tutti.Topology:
    """A graph's network. Nodes have the attribute `kind` ("npu", which is the default, "switch" or
    "memory") and may have `store`, `copy`, `reduce`, `reduce_rate_bytes_per_s`, `coordinate`; a node
    that is a number n is called npu<n> or switch<n>. Edges may have `bandwidth` (text, or bytes per
    second) or `bandwidth_bytes_per_s`, `latency` (text), `latency_s` or `latency_ps`, and `dimension`.
    Undirected edges are links both ways. Edges of a multigraph with numbers as keys go by them. The
    graph may have `shape` and `npu`.

    Errors: InputError, also for nodes whose names a topology file can't have."""
    nodes: list[dict[str, Any]] = []
    names: dict[Any, str] = {}
    for node, data in graph.nodes(data=True):
        kind = data.get("kind", "npu")
        names[node] = str(data.get("name", f"{kind}{node}" if isinstance(node, int) else node))
        keys: dict[str, Any] = {key: bool(data[key]) for key in ("store", "copy", "reduce") if key in data}
        if data.get("reduce_rate_bytes_per_s"):
            keys["reduce_rate"] = _rate(data["reduce_rate_bytes_per_s"])
        if data.get("coordinate"):
            keys["coordinates"] = list(data["coordinate"])
        nodes.append({"name": names[node], "kind": kind, **keys})
    nodes.sort(key=lambda node: bool(node["kind"] != "npu"))
    edges = list(graph.edges(data=True))
    if graph.is_multigraph() and all(isinstance(key, int) for *_, key in graph.edges(keys=True)):
        edges = [edge[:2] + edge[3:] for edge in sorted(graph.edges(keys=True, data=True), key=lambda e: int(e[2]))]
    links = []
    for source, destination, data in edges:
        late = data.get("latency")
        if "latency_s" in data:
            late = float(data["latency_s"])
        if "latency_ps" in data:
            late = f"{int(data['latency_ps'])}ps"
        links.append({"from": names[source], "to": names[destination], "latency": _time(late),
                      "bandwidth": data.get("bandwidth", data.get("bandwidth_bytes_per_s")),
                      "dimension": data.get("dimension"), "directed": graph.is_directed()})
    return build(nodes, links, name=name or str(graph.name or "network"), bandwidth=bandwidth,
                 latency=latency, shape=graph.graph.get("shape") or None, npu=graph.graph.get("npu"))


def to_networkx(topology: _tutti.Topology) -> networkx.MultiDiGraph:
    """Nodes by name, with all that `Topology.nodes` says; an edge for each link, its key the link's id,
    with `latency_ps`, `bandwidth_bytes_per_s` and perhaps `dimension`. `from_networkx` makes the same
    network of it, but for shared groups and parts of links."""
    import networkx

    npu = tomllib.loads(topology.to_toml()).get("npu")
    graph = networkx.MultiDiGraph(name=topology.name, shape=topology.shape, **({"npu": npu} if npu else {}))
    nodes = topology.nodes
    for node in nodes:
        graph.add_node(node["name"], **node)
    for i, link in enumerate(topology.links):
        graph.add_edge(nodes[link["source"]]["name"], nodes[link["destination"]]["name"], key=i,
                       latency_ps=int(link["latency_ps"]),
                       bandwidth_bytes_per_s=int(link["bandwidth_bytes_per_s"]),
                       **({"dimension": int(link["dimension"])} if link["dimension"] >= 0 else {}))
    return graph
