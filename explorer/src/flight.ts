// An index over time: which hops are in flight at an instant?
//
// Hops are sorted by start, so those that have begun are a prefix. Over blocks of 256 hops stands
// a binary tree with the latest end beneath each of its vertices; a search enters only where
// something still flies. A hop is in flight from its start until just before its end.

import { firstOf } from "./groups.ts";

const BLOCK = 256;

export class Flights {
  /** The hops found by the last call of `at`: the first `count` entries. */
  found = new Uint32Array(1024);
  count = 0;
  private readonly leaves = 2 ** Math.ceil(Math.log2(Math.max(1, this.start.length / BLOCK)));
  private readonly latest = new Float64Array(2 * this.leaves).fill(-1);

  constructor(readonly start: Float64Array, readonly end: Float64Array) {
    for (let i = 0; i < end.length; i++) {
      const leaf = this.leaves + Math.floor(i / BLOCK);
      if (end[i] > this.latest[leaf]) this.latest[leaf] = end[i];
    }
    for (let v = this.leaves - 1; v > 0; v--) {
      this.latest[v] = Math.max(this.latest[2 * v], this.latest[2 * v + 1]);
    }
  }

  /** Finds what is in flight at `moment`; returns how many there are. */
  at(moment: number): number {
    this.count = 0;
    this.search(1, 0, this.leaves, this.begun(moment), moment);
    return this.count;
  }

  /** The next start or end after `moment`, or null. */
  next(moment: number): number | null {
    const i = this.begun(moment);
    let best = i < this.start.length ? this.start[i] : Infinity;
    this.at(moment);
    for (let k = 0; k < this.count; k++) best = Math.min(best, this.end[this.found[k]]);
    return best === Infinity ? null : best;
  }

  /** The last start or end before `moment`, or null. */
  previous(moment: number): number | null {
    const { start } = this;
    const begun = firstOf(start.length, (i) => start[i] >= moment);
    if (begun === 0) return null;
    // An end between the last start and the moment belongs to a hop in flight at that start.
    let best = start[begun - 1];
    this.at(best);
    for (let k = 0; k < this.count; k++) {
      const end = this.end[this.found[k]];
      if (end < moment && end > best) best = end;
    }
    return best;
  }

  /** How many have begun. */
  private begun(moment: number): number {
    return firstOf(this.start.length, (i) => this.start[i] > moment);
  }

  private search(vertex: number, block: number, blocks: number, begun: number, moment: number) {
    if (this.latest[vertex] <= moment || block * BLOCK >= begun) return;
    if (blocks > 1) {
      this.search(2 * vertex, block, blocks / 2, begun, moment);
      this.search(2 * vertex + 1, block + blocks / 2, blocks / 2, begun, moment);
      return;
    }
    const last = Math.min(begun, (block + 1) * BLOCK);
    for (let i = block * BLOCK; i < last; i++) {
      if (this.end[i] > moment) this.push(i);
    }
  }

  private push(hop: number) {
    if (this.count === this.found.length) {
      const larger = new Uint32Array(2 * this.count);
      larger.set(this.found);
      this.found = larger;
    }
    this.found[this.count++] = hop;
  }
}
