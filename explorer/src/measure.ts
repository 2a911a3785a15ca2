// One number per link, by which links are coloured, and the words for it.

import type { Loaded } from "./run.ts";
import { COLOURINGS, type Colouring, keysOf } from "./state.ts";
import { rate, share, size, whole } from "./words.ts";

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

/** The number of hops in flight on each link. The run must have hops. */
export function inFlight(loaded: Loaded, moment: number): Float64Array {
  const counts = new Float64Array(loaded.links);
  const hops = loaded.hops;
  if (hops === null) return counts;
  const count = hops.flights.at(moment);
  for (let i = 0; i < count; i++) counts[hops.link[hops.flights.found[i]]]++;
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
