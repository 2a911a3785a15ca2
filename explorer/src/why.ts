// Why it isn't faster: the steps of the critical path, and when the hottest link was idle.

import { group } from "./groups.ts";
import type { Loaded } from "./run.ts";

/** Successive hops of the critical path over one link. */
export interface Step {
  first: number;
  last: number;
  count: number;
  /** Time between the step before (or the beginning) and the first hop's start. */
  waited: number;
  /** Time between this step's hops. */
  between: number;
  /** Whether the step before ended where this one begins, so that it brought the data. */
  brought: boolean;
}

export function criticalSteps(loaded: Loaded): Step[] {
  const { hops } = loaded;
  if (hops === null) return [];
  const { from, to } = loaded.run.network.links;
  const steps: Step[] = [];
  for (const hop of loaded.run.critical) {
    const before = steps.at(-1);
    const waited = Math.max(0, hops.start[hop] - (before ? hops.end[before.last] : 0));
    const link = hops.link[hop];
    if (before !== undefined && hops.link[before.last] === link) {
      before.last = hop;
      before.count++;
      before.between += waited;
      continue;
    }
    const brought = before !== undefined && to[hops.link[before.last]] === from[link];
    steps.push({ first: hop, last: hop, count: 1, waited, between: 0, brought });
  }
  return steps;
}

export function hottestLink(loaded: Loaded): number {
  const { busy_ps: busy } = loaded.run.network.links;
  return busy.reduce((best, value, link) => (value > busy[best] ? link : best), 0);
}

export interface Gap {
  from: number;
  to: number;
}

/** The times a link carried nothing, the longest first, out of the window that hops are from. */
export function idleGaps(loaded: Loaded, link: number): Gap[] {
  const { hops, run } = loaded;
  if (hops === null || run.hops === null) return [];
  const gaps: Gap[] = [];
  const whole = run.hops.count === run.hops.total;
  let busyUntil = whole ? 0 : run.hops.from_ps;
  const close = whole ? run.completion_ps : run.hops.to_ps;
  for (const hop of group(hops.byLink, link)) {
    if (hops.start[hop] > busyUntil) gaps.push({ from: busyUntil, to: hops.start[hop] });
    busyUntil = Math.max(busyUntil, hops.end[hop]);
  }
  if (close > busyUntil) gaps.push({ from: busyUntil, to: close });
  return gaps.sort((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from);
}
