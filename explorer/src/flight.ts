// An index over time: which hops are in flight at an instant?
//
// Hops are sorted by start, so those that have begun are a prefix. Over blocks of 256 hops stands
// a binary tree with the latest end beneath each of its vertices; a search enters only where
// something still flies. A hop is in flight from its start until just before its end.

import { firstOf } from "./groups.ts";

const BLOCK = 256;

export class Flights {
  private readonly leaves = 2 ** Math.ceil(Math.log2(Math.max(1, this.start.length / BLOCK)));
  private readonly latest = new Float64Array(2 * this.leaves).fill(-1);

  constructor(readonly start: Float64Array, readonly end: Float64Array) {
    const { leaves, latest } = this;
    end.forEach((end, i) => {
      const leaf = leaves + Math.floor(i / BLOCK);
      if (end > latest[leaf]) latest[leaf] = end;
    });
    for (let v = leaves - 1; v > 0; v--) latest[v] = Math.max(latest[2 * v], latest[2 * v + 1]);
  }

  /** What is in flight at `moment`, by start. */
  at(moment: number): number[] {
    const found: number[] = [];
    this.search(found, 1, 0, this.leaves, this.begun(moment), moment);
    return found;
  }

  /** The next start or end after `moment`, or null. */
  next(moment: number): number | null {
    const start = this.start[this.begun(moment)] ?? Infinity;
    const best = this.at(moment).reduce((best, hop) => Math.min(best, this.end[hop]), start);
    return best === Infinity ? null : best;
  }

  /** The last start or end before `moment`, or null. */
  previous(moment: number): number | null {
    const { start, end } = this;
    const begun = firstOf(start.length, (i) => start[i] >= moment);
    if (begun === 0) return null;
    // An end between the last start and the moment belongs to a hop in flight at that start.
    const last = start[begun - 1];
    return this.at(last).map((hop) => end[hop]).filter((end) => end < moment)
      .reduce((best, end) => Math.max(best, end), last);
  }

  /** How many have begun. */
  private begun(moment: number): number {
    return firstOf(this.start.length, (i) => this.start[i] > moment);
  }

  private search(
    found: number[], vertex: number, block: number, blocks: number, begun: number, moment: number,
  ) {
    if (this.latest[vertex] <= moment || block * BLOCK >= begun) return;
    if (blocks > 1) {
      this.search(found, 2 * vertex, block, blocks / 2, begun, moment);
      this.search(found, 2 * vertex + 1, block + blocks / 2, blocks / 2, begun, moment);
      return;
    }
    const last = Math.min(begun, (block + 1) * BLOCK);
    for (let i = block * BLOCK; i < last; i++) if (this.end[i] > moment) found.push(i);
  }
}
