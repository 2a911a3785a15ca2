// A node or a link in numbers, as the pointer or the selection asks for it.

import { group } from "./groups.ts";
import type { Drawn } from "./fold.ts";
import { busyNow, busyShare, inFlight, type Measure, timed } from "./measure.ts";
import { deadAt } from "./moments.ts";
import type { Thing } from "./network.ts";
import type { Loaded } from "./run.ts";
import { rate, share, shown, size, time, whole } from "./words.ts";

/** What the drawing says about a node or link, as a table. */
export function describe(loaded: Loaded, thing: Thing, moment: number): [string, string][] {
  if (thing?.kind !== "node" && thing?.kind !== "link") return [];
  const { nodes, links } = loaded.run.network;
  const { id } = thing;
  const dead = deadAt(loaded, moment);
  const counts = inFlight(loaded, moment);
  const sum = (those: Uint32Array, f: (link: number) => number) =>
    those.reduce((total, link) => total + f(link), 0);
  if (thing.kind === "node") {
    const [out, into] = [group(loaded.outgoing, id), group(loaded.incoming, id)];
    const marks = [
      dead.node[id] === 1 ? "dead" : "", loaded.inCut[id] === 1 ? "inside the cut" : "",
    ].filter((mark) => mark !== "").join(", ");
    const rows: [string, string][] = [
      [nodes.is_switch[id] === 1 ? "switch" : "NPU", shown(nodes.name[id], 40)],
      ...(loaded.hops === null ? [] : [
        ["sending now", whole(sum(out, (link) => counts[link]))],
        ["receiving now", whole(sum(into, (link) => counts[link]))],
      ] as [string, string][]),
      ["bytes out", size(sum(out, (link) => links.bytes[link]))],
      ["bytes in", size(sum(into, (link) => links.bytes[link]))],
    ];
    return marks === "" ? rows : [...rows, ["mark", marks]];
  }
  const rows: [string, string][] = [
    ["link", loaded.linkNames[id]],
    ...(loaded.hops === null ? [] : [["in flight now", whole(counts[id])] as [string, string]]),
    ...(!timed(loaded) ? []
      : [["busy now", share(busyNow(loaded, id, moment))] as [string, string]]),
    ["busy, whole run", share(busyShare(loaded, id))],
    ["bytes", size(links.bytes[id])],
    ["transfers", whole(links.transfers[id])],
    ["latency", time(links.latency_ps[id])],
    ["bandwidth", rate(links.bytes_per_s[id])],
  ];
  return dead.link[id] === 1 ? [...rows, ["mark", "dead"]] : rows;
}

/** What it says about a folded group or link, `measure` being that of the run's links. */
export function describeFolded(
  loaded: Loaded, thing: Thing, drawn: Drawn, measure: Measure, moment: number,
): [string, string][] {
  if (thing === null) return [];
  const { nodes, groups, links } = loaded.run.network;
  const dead = deadAt(loaded, moment);
  const nameOf = (node: number) => shown(
    drawn.groups[drawn.nodeAt[node]] < 0 ? nodes.name[node] : groups[nodes.group[node]], 40);
  const values = (those: ArrayLike<number>): [string, string][] => {
    const list = Array.from(those);
    if (list.length === 0) return [];
    const largest = list.reduce((a, b) => (measure.values[b] > measure.values[a] ? b : a));
    const sum = list.reduce((total, link) => total + measure.values[link], 0);
    const lost = list.filter((link) => dead.link[link] === 1).length;
    return [
      ["colour", measure.title],
      ...(measure.adds ? [["sum", measure.words(sum)] as [string, string]] : []),
      ["mean", measure.words(sum / list.length)],
      ["largest", `${measure.words(measure.values[largest])}, ${loaded.linkNames[largest]}`],
      ...(lost > 0 ? [["dead links", whole(lost)] as [string, string]] : []),
    ];
  };
  if (thing.kind === "bundle") {
    const those = group(drawn.carries, drawn.linkAt[thing.id]);
    return [
      ["from", nameOf(links.from[thing.id])], ["to", nameOf(links.to[thing.id])],
      ["links", whole(those.length)], ...values(those),
    ];
  }
  const those = group(drawn.members, drawn.nodeAt[thing.id]);
  const own = nodes.group[thing.id];
  const inside = [...those].flatMap((node) => [...group(loaded.outgoing, node)])
    .filter((link) => nodes.group[links.to[link]] === own);
  const lost = those.filter((node) => dead.node[node] === 1).length;
  return [
    ["group", nameOf(thing.id)], ["nodes", whole(those.length)],
    ...(lost > 0 ? [["dead nodes", whole(lost)] as [string, string]] : []),
    ["links inside", whole(inside.length)], ...values(inside),
  ];
}
