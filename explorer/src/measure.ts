// One number per link, by which links are coloured, and the words for it; and what happens on the
// way of a run: links fail, repairs come into force. What is dead is a matter of the moment.

import type { Mark } from "./axis.ts";
import type { Palette } from "./colour.ts";
import { group } from "./groups.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";
import { type Colouring, COLOURINGS, keysOf, type Selection } from "./state.ts";
import { rate, share, size, time, whole } from "./words.ts";

export interface Dead { link: Uint8Array; node: Uint8Array }

const known = new WeakMap<Loaded, { passed: number; dead: Dead }>();

/** What is dead at a moment: reckoned on from the last call's moment, anew only backwards. */
export function deadAt(loaded: Loaded, moment: number): Dead {
  const { moments, network } = loaded.run;
  let state = known.get(loaded);
  if (state === undefined || (state.passed > 0 && moments[state.passed - 1].at_ps > moment)) {
    const dead = { link: new Uint8Array(loaded.links), node: new Uint8Array(loaded.nodes) };
    for (const link of network.links.dead) dead.link[link] = 1;
    for (const node of network.nodes.dead) dead.node[node] = 1;
    state = { passed: 0, dead };
    known.set(loaded, state);
  }
  const { dead } = state;
  for (; state.passed < moments.length && moments[state.passed].at_ps <= moment; state.passed++) {
    const { links_down: down, links_up: up, nodes_down: nodes } = moments[state.passed];
    for (const link of down) dead.link[link] = 1;
    for (const link of up) dead.link[link] = 0;
    for (const node of nodes) {
      dead.node[node] = 1;
      for (const link of linksOf(loaded, { kind: "node", id: node })) dead.link[link] = 1;
    }
  }
  return dead;
}

/** The next (1) or last (-1) of the moments from here, or null. */
export function momentFrom(loaded: Loaded, here: number, direction: 1 | -1): number | null {
  const beyond = loaded.run.moments.map(({ at_ps: at }) => at)
    .filter((at) => direction * (at - here) > 0);
  return beyond.length === 0 ? null : direction * Math.min(...beyond.map((at) => direction * at));
}

/** The words of what happens within a part of time; "" where nothing does. */
export const happening = (loaded: Loaded, from: number, to: number): string =>
  loaded.run.moments.filter(({ at_ps: at }) => at >= from && at <= to).slice(0, 3)
    .map(({ at_ps: at, words }) => `${time(at)}: ${words.slice(0, 200)}`).join("; ");

/** When something happens, as marks. */
export const happened = ({ dead }: Palette, { run }: Loaded) =>
  run.moments.map(({ at_ps: at }): Mark => [at, "", dead, [3, 2]]);

/** The moments of a run that drawings mark: what it ends with, what is marked, and the present. */
export function marksOf({ palette, store }: Page, { run }: Loaded): Mark[] {
  const { mark, moment } = store.view;
  const marks: [number | null, string, string, number[]][] = [
    [run.bound_ps, "bound", palette.cut, [4, 3]],
    [run.completion_ps, "completion", palette.soft, [1, 2]],
    [mark, "mark", palette.critical, [2, 2]],
    [moment, "", palette.accent, []],
  ];
  return marks.filter((mark): mark is Mark => mark[0] !== null);
}

export interface Measure {
  title: string;
  /** Per link. */
  values: Float64Array;
  /** The ramp's end; where `signed`, it goes from -largest to largest. */
  largest: number;
  signed: boolean;
  /** Whether the values of several links add up, as bytes do and shares don't. */
  adds: boolean;
  words: (value: number) => string;
}

/** The links that a selection is about. */
export function linksOf({ outgoing, incoming, hops }: Loaded, selection: Selection): number[] {
  if (selection === null) return [];
  const { kind, id } = selection;
  if (kind === "link") return [id];
  if (kind === "node") return [...group(outgoing, id), ...group(incoming, id)];
  return hops === null ? [] : Array.from(group(hops.byChunk, id), (hop) => hops.link[hop]);
}

/** Whether the page knows anything of the run's course: else only of its whole. */
export const timed = (loaded: Loaded) => loaded.hops !== null || loaded.run.bins.count > 1;

/** Whether nothing is sent, as far as the page knows: a network to look at. */
export const quiet = ({ hops, traffic, run }: Loaded) =>
  (hops === null || hops.count === 0) && traffic.every((busy) => busy === 0)
  && run.network.links.bytes.every((bytes) => bytes === 0);

/** The colourings that say something of a run, the most natural one first. */
export function colourings(loaded: Loaded, other: Loaded | null): Colouring[] {
  const compared = other !== null && other.links === loaded.links;
  return keysOf(COLOURINGS).filter((key) =>
    key === "bandwidth" || (key === "difference" ? compared
      : !quiet(loaded) && (key !== "now" || timed(loaded))
        && (key !== "flight" || loaded.hops !== null)));
}

/** The number of hops in flight on each link. */
export function inFlight(loaded: Loaded, moment: number): Float64Array {
  const counts = new Float64Array(loaded.links);
  for (const hop of loaded.hops?.flights.at(moment) ?? []) counts[loaded.hops!.link[hop]]++;
  return counts;
}

/** The share of the present bin in which a link is busy. */
export function busyNow(loaded: Loaded, link: number, moment: number): number {
  const { count, width_ps: width } = loaded.run.bins;
  if (count === 0 || !(width > 0)) return 0;
  const bin = Math.max(0, Math.min(count - 1, Math.floor(moment / width)));
  return loaded.bins[link * count + bin] / 255;
}

export function busyShare(loaded: Loaded, link: number): number {
  const { run } = loaded;
  return run.completion_ps > 0 ? run.network.links.busy_ps[link] / run.completion_ps : 0;
}

const largestOf = (values: Float64Array) => values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);

/** `other` is the run that a difference is to: its busy share less this run's. */
export function measure(
  loaded: Loaded, colouring: Colouring, moment: number, other: Loaded | null,
): Measure {
  const { links } = loaded.run.network;
  const of = (title: string, of: (link: number) => number, words: Measure["words"]): Measure => {
    const values = Float64Array.from(loaded.linkNames, (_, link) => of(link));
    return { title, values, largest: largestOf(values) || 1, signed: false, adds: true, words };
  };
  switch (colouring) {
    case "flight": {
      const counts = inFlight(loaded, moment);
      return of("in flight now", (link) => counts[link], whole);
    }
    case "now": return {
      ...of("busy at this moment", (link) => busyNow(loaded, link, moment), share),
      largest: 1, adds: false,
    };
    case "bytes": return of("bytes, whole run", (link) => links.bytes[link], size);
    case "bandwidth": return of("bandwidth", (link) => links.bytes_per_s[link], rate);
    case "difference":
      if (other === null || other.links !== loaded.links) break;
      return {
        ...of("busy: other run less this",
          (link) => busyShare(other, link) - busyShare(loaded, link),
          (x) => (x > 0 ? `+${share(x)}` : share(x))),
        signed: true, adds: false,
      };
  }
  return { ...of("busy, whole run", (link) => busyShare(loaded, link), share), adds: false };
}
