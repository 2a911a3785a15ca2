// A node or a link in numbers, as the pointer or the selection asks for it.

import { group } from "./groups.ts";
import { busyNow, busyShare, inFlight } from "./measure.ts";
import type { Loaded } from "./run.ts";
import type { Selection } from "./state.ts";
import { rate, share, shown, size, time, whole } from "./words.ts";

/** What the drawing says about a node or link, as a table. */
export function describe(loaded: Loaded, thing: Selection, moment: number): [string, string][] {
  if (thing === null || thing.kind === "chunk") return [];
  const { nodes, links } = loaded.run.network;
  const { id } = thing;
  const counts = inFlight(loaded, moment);
  const sum = (those: Uint32Array, f: (link: number) => number) =>
    those.reduce((total, link) => total + f(link), 0);
  if (thing.kind === "node") {
    const [out, into] = [group(loaded.outgoing, id), group(loaded.incoming, id)];
    const marks = [
      loaded.deadNode[id] === 1 ? "dead" : "", loaded.inCut[id] === 1 ? "inside the cut" : "",
    ].filter((mark) => mark !== "").join(", ");
    const rows: [string, string][] = [
      [nodes.is_switch[id] === 1 ? "switch" : "NPU", shown(nodes.name[id], 40)],
      ["sending now", whole(sum(out, (link) => counts[link]))],
      ["receiving now", whole(sum(into, (link) => counts[link]))],
      ["bytes out", size(sum(out, (link) => links.bytes[link]))],
      ["bytes in", size(sum(into, (link) => links.bytes[link]))],
    ];
    return marks === "" ? rows : [...rows, ["mark", marks]];
  }
  const rows: [string, string][] = [
    ["link", loaded.linkNames[id]],
    ["in flight now", whole(counts[id])],
    ["busy now", share(busyNow(loaded, id, moment))],
    ["busy, whole run", share(busyShare(loaded, id))],
    ["bytes", size(links.bytes[id])],
    ["transfers", whole(links.transfers[id])],
    ["latency", time(links.latency_ps[id])],
    ["bandwidth", rate(links.bytes_per_s[id])],
  ];
  return loaded.deadLink[id] === 1 ? [...rows, ["mark", "dead"]] : rows;
}
