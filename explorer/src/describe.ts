// A node or a link in numbers, as the pointer or the selection asks for it.

import type { Drawn } from "./fold.ts";
import { group, type Groups } from "./groups.ts";
import { busyNow, busyShare, deadAt, inFlight, type Measure, timed } from "./measure.ts";
import type { Thing } from "./network.ts";
import type { Loaded } from "./run.ts";
import { rate, share, shown, size, time, whole } from "./words.ts";

/** Counts what is in flight on a node's links, either way. */
export function sendingOf(loaded: Loaded, moment: number): (links: Groups, node: number) => number {
  const counts = inFlight(loaded, moment);
  return (links, node) => group(links, node).reduce((sum, link) => sum + counts[link], 0);
}

/** In words what sets a node apart; "" where nothing does. */
export const marksOfNode = (loaded: Loaded, node: number, moment: number) => [
  deadAt(loaded, moment).node[node] === 1 ? "dead" : "",
  loaded.inCut[node] === 1 ? "inside the cut" : "",
].filter((mark) => mark !== "").join(", ");

/** What the drawing says about a node or link, as a table. */
export function describe(loaded: Loaded, thing: Thing, moment: number): [string, string][] {
  if (thing?.kind !== "node" && thing?.kind !== "link") return [];
  const { nodes, links } = loaded.run.network;
  const { id } = thing;
  if (thing.kind === "node") {
    const bytes = (those: Groups) =>
      size(group(those, id).reduce((sum, link) => sum + links.bytes[link], 0));
    const sending = sendingOf(loaded, moment);
    const now = (links: Groups) => (loaded.hops === null ? "" : whole(sending(links, id)));
    const rows: [string, string][] = [
      [nodes.is_switch[id] === 1 ? "switch" : "NPU", shown(nodes.name[id], 40)],
      ["sending now", now(loaded.outgoing)], ["receiving now", now(loaded.incoming)],
      ["bytes out", bytes(loaded.outgoing)], ["bytes in", bytes(loaded.incoming)],
      ["mark", marksOfNode(loaded, id, moment)],
    ];
    return rows.filter(([, words]) => words !== "");
  }
  const rows: [string, string][] = [["link", loaded.linkNames[id]]];
  if (loaded.hops !== null) rows.push(["in flight now", whole(inFlight(loaded, moment)[id])]);
  if (timed(loaded)) rows.push(["busy now", share(busyNow(loaded, id, moment))]);
  rows.push(
    ["busy, whole run", share(busyShare(loaded, id))], ["bytes", size(links.bytes[id])],
    ["transfers", whole(links.transfers[id])], ["latency", time(links.latency_ps[id])],
    ["bandwidth", rate(links.bytes_per_s[id])],
  );
  return deadAt(loaded, moment).link[id] === 1 ? [...rows, ["mark", "dead"]] : rows;
}

/** What it says about a folded group or link, `measure` being that of the run's links. */
export function describeFolded(
  loaded: Loaded, thing: NonNullable<Thing>, drawn: Drawn, measure: Measure, moment: number,
): [string, string][] {
  const { nodes, groups, links } = loaded.run.network;
  const { id } = thing;
  const dead = deadAt(loaded, moment);
  const nameOf = (node: number) => shown(
    drawn.groups[drawn.nodeAt[node]] < 0 ? nodes.name[node] : groups[nodes.group[node]], 40);
  const bundle = thing.kind === "bundle";
  const members = bundle ? [] : [...group(drawn.members, drawn.nodeAt[id])];
  const those = bundle ? [...group(drawn.carries, drawn.linkAt[id])]
    : members.flatMap((node) => [...group(loaded.outgoing, node)])
      .filter((link) => nodes.group[links.to[link]] === nodes.group[id]);
  const lost = members.filter((node) => dead.node[node]).length
    + those.filter((link) => dead.link[link]).length;
  const rows: [string, string][] = bundle
    ? [["from", nameOf(links.from[id])], ["to", nameOf(links.to[id])]]
    : [["group", nameOf(id)], ["nodes", whole(members.length)]];
  rows.push([bundle ? "links" : "links inside", whole(those.length)]);
  if (lost > 0) rows.push(["dead of these", whole(lost)]);
  if (those.length === 0) return rows;
  const { values, words, title, adds } = measure;
  const sum = those.reduce((sum, link) => sum + values[link], 0);
  const largest = those.reduce((a, b) => (values[b] > values[a] ? b : a));
  const mean = `mean ${words(sum / those.length)}`;
  return [...rows, [title, adds ? `${words(sum)}, ${mean}` : mean],
    ["largest", `${words(values[largest])}, ${loaded.linkNames[largest]}`]];
}
