// What waits for what: the next hop of each link after a moment, and why it hasn't begun.
//
// A hop's data came with the last crossing into its node, of the same chunk, that was there when
// the hop began: with its tail, or behind a switch that sends on what it hasn't received yet, with
// its head. Where there is no such crossing, they were there from the beginning.

import { useMemo } from "preact/hooks";
import { firstOf, group, groupBy, type Groups } from "../groups.ts";
import { startingAt } from "../lanes.ts";
import { linksOf } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Hops, Loaded } from "../run.ts";
import { useView } from "../state.ts";
import { time, whole } from "../words.ts";
import { Part } from "./facts.tsx";

export interface Wait {
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
): { waits: Wait[]; done: number } {
  const { hops } = loaded;
  const waits: Wait[] = [];
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
    const wait: Wait = {
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

const MOST = 200;

export function Waiting({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment, selection } = useView(page.store);
  const { hops, linkNames } = loaded;
  const { waits, done } = useMemo(() => {
    const some = selection?.kind === "link" || selection?.kind === "node";
    const links = some ? new Set(linksOf(loaded, selection)) : linkNames.keys();
    return waitings(loaded, moment, links);
  }, [loaded, moment, selection]);
  if (hops === null) {
    return <p class="soft">The hops aren't in this page, so nothing is known of what waits.</p>;
  }
  const choose = (kind: "link" | "chunk", id: number, words: string) => (
    <button class="plain name" onClick={() => page.store.change({ selection: { kind, id } })}>
      {words}
    </button>
  );
  return (
    <>
      <h2>What waits at {time(moment)}</h2>
      <Part loaded={loaded} />
      <p>
        Links with a hop to come: {whole(waits.length)}
        {waits.length > MOST ? ` (${MOST} of them are listed)` : ""}; with none: {whole(done)}.
      </p>
      <ol class="steps">
        {waits.slice(0, MOST).map((wait) => (
          <li key={wait.link}>
            {choose("link", wait.link, linkNames[wait.link])}
            {wait.idle && moment > wait.since ? `, idle for ${time(moment - wait.since)}` : ""}
            {": "}
            {choose("chunk", hops.chunk[wait.hop], `chunk ${whole(hops.chunk[wait.hop])}`)}
            {" "}{reason(loaded, hops, wait)}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Why a hop hasn't begun. */
export function reason(loaded: Loaded, hops: Hops, { reason, by, until, link }: Wait): string {
  const chunk = whole(hops.chunk[by] ?? 0);
  const node = loaded.nodeNames[loaded.run.network.links.from[link]];
  return {
    coming: `waits for its data: it is crossing ${loaded.linkNames[hops.link[by]]} until `,
    unsent: `waits for its data: it hasn't been sent to ${node} yet, and is there at `,
    link: `waits for its link: chunk ${chunk} is on it until `,
    order: "is there and its link is free: held back by the schedule's order until ",
  }[reason] + time(until);
}
