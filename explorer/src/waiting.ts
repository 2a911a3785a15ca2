// What waits for what: the next hop of each link after a moment, and why it hasn't begun.
//
// A hop's data came with the last crossing into its node, of the same chunk, that was there when
// the hop began: with its tail, or behind a switch that sends on what it hasn't received yet, with
// its head. Where there is no such crossing, they were there from the beginning.

import { firstOf, type Groups, group, groupBy } from "./groups.ts";
import { startingAt } from "./lanes.ts";
import type { Hops, Loaded } from "./run.ts";

export interface Waiting {
  link: number;
  /** The hop that comes next on it. */
  hop: number;
  /** Whether the link is idle, and since when it is, or else since when the data are there. */
  idle: boolean;
  since: number;
  /** coming: its data cross a link; unsent: they don't yet; link: another chunk is on its link. */
  reason: "coming" | "unsent" | "link" | "order";
  /** The hop waited for, or -1; and until when. */
  by: number;
  until: number;
}

/** How many hops that began before may still be on a link. */
const EARLIER = 8;

const known = new WeakMap<Hops, Groups>();

/** Hops by the node they come to, then by chunk, then by start. */
function comings(loaded: Loaded, hops: Hops): Groups {
  const before = known.get(hops);
  if (before !== undefined) return before;
  const { to } = loaded.run.network.links;
  const byChunk = hops.byChunk.items;
  const result = groupBy(byChunk.map((hop) => to[hops.link[hop]]), loaded.nodes);
  result.items.forEach((at, i) => (result.items[i] = byChunk[at]));
  known.set(hops, result);
  return result;
}

/** The hop that brought a hop's data, and when they were there; null: from the beginning. */
function broughtBy(loaded: Loaded, hops: Hops, hop: number): { hop: number; at: number } | null {
  const { from, latency_ps: latency } = loaded.run.network.links;
  const coming = group(comings(loaded, hops), from[hops.link[hop]]);
  const chunk = hops.chunk[hop];
  const first = firstOf(coming.length, (i) => hops.chunk[coming[i]] >= chunk);
  let best: { hop: number; at: number } | null = null;
  for (let i = first; hops.chunk[coming[i]] === chunk; i++) {
    const before = coming[i];
    if (hops.start[before] >= hops.start[hop]) break;
    const late = latency[hops.link[before]];
    const own = hops.transfer[before] === hops.transfer[hop];
    const tail = hops.end[before] + late;
    const at = own && tail > hops.start[hop] ? hops.start[before] + late : tail;
    if (at > hops.start[hop]) continue;
    if (own) return { hop: before, at };
    if (best === null || at >= best.at) best = { hop: before, at };
  }
  return best;
}

/** What waits on these links, waiting longest first; and how many have nothing to come. */
export function waitings(
  loaded: Loaded, moment: number, links: Iterable<number>,
): { waits: Waiting[]; done: number } {
  const { hops } = loaded;
  const waits: Waiting[] = [];
  if (hops === null) return { waits, done: 0 };
  const { latency_ps: latency } = loaded.run.network.links;
  let done = 0;
  for (const link of links) {
    const those = group(hops.byLink, link);
    const next = startingAt(hops.start, those, Math.floor(moment) + 1);
    if (next === those.length) {
      done++;
      continue;
    }
    const hop = those[next];
    let [before, free] = [-1, 0];
    for (let i = Math.max(0, next - EARLIER); i < next; i++) {
      const end = hops.end[those[i]];
      // Where latency occupies a link too, the next hop begins just after it.
      const frees = end + latency[link] === hops.start[hop] ? hops.start[hop] : end;
      if (frees >= free) [before, free] = [those[i], frees];
    }
    const data = broughtBy(loaded, hops, hop);
    const there = data?.at ?? 0;
    const idle = free <= moment;
    const wait: Waiting = {
      link, hop, idle, since: idle ? free : Math.min(moment, there), reason: "order", by: -1,
      until: hops.start[hop],
    };
    if (data !== null && there > moment && there >= free) {
      wait.reason = hops.start[data.hop] <= moment ? "coming" : "unsent";
      [wait.by, wait.until] = [data.hop, there];
    } else if (!idle) {
      wait.reason = "link";
      [wait.by, wait.until] = [before, free];
    }
    waits.push(wait);
  }
  waits.sort((a, b) =>
    Number(b.idle) - Number(a.idle) || a.since - b.since || a.until - b.until || a.link - b.link);
  return { waits, done };
}
