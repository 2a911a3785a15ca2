// What NPUs do over an iteration: when they compute, when they communicate, and for how long they
// only communicate, which is what makes the iteration longer.

import type { Range } from "../axis.ts";
import type { Timeline } from "../format.ts";
import { shown } from "../words.ts";

/** Pieces in order, those that touch or overlap as one. */
export function union(pieces: Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of [...pieces].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/** Calls `each` with the parts of pieces, sorted by start, that a union doesn't cover. */
export function uncovered(
  pieces: Range[], cover: Range[], each: (piece: number, from: number, to: number) => void,
) {
  let first = 0;
  pieces.forEach(([from, to], piece) => {
    while (first < cover.length && cover[first][1] <= from) first++;
    let at = from;
    for (let i = first; i < cover.length && cover[i][0] < to; i++) {
      if (cover[i][0] > at) each(piece, at, cover[i][0]);
      at = Math.max(at, cover[i][1]);
    }
    if (at < to) each(piece, at, to);
  });
}

const total = (pieces: Range[]) => pieces.reduce((sum, [from, to]) => sum + to - from, 0);

/** The spans of one kind of an NPU, by start. */
export interface Lane {
  npu: number; kind: number;
  /** Whether it is the NPU's first. */
  first: boolean;
  spans: number[];
  /** When it communicates while the NPU computes nothing. */
  exposed: Range[];
}

/** Of one NPU, in picoseconds. */
export interface Use {
  computing: number; communicating: number;
  /** By kind. */
  exposed: number[];
  idle: number;
}

const LONGEST = 20;

export class Strip {
  readonly title = shown(this.timeline.title, 60) || "timeline";
  readonly npus = this.timeline.npus.map((name) => shown(name, 40));
  readonly kinds = this.timeline.kinds.map((name) => shown(name, 40));
  readonly length: number;
  readonly lanes: Lane[] = [];
  readonly uses: Use[] = [];
  /** The spans that are exposed for the longest, and for how long. */
  readonly longest: { span: number; exposed: number }[];

  constructor(readonly timeline: Timeline) {
    const { npus, kinds, npu, kind, start, duration } = timeline;
    const piece = (span: number): Range => [start[span], start[span] + duration[span]];
    const lanes = npus.map(() => kinds.map((): number[] => []));
    let length = Math.max(1, timeline.length_ps);
    for (let span = 0; span < start.length; span++) {
      lanes[npu[span]][kind[span]].push(span);
      length = Math.max(length, piece(span)[1]);
    }
    this.length = length;
    const exposures: { span: number; exposed: number }[] = [];
    lanes.forEach((kindsOfNpu, of) => {
      for (const spans of kindsOfNpu) spans.sort((a, b) => start[a] - start[b]);
      const busy = kindsOfNpu.map((spans) => union(spans.map(piece)));
      const computing = busy[0] ?? [];
      let first = true;
      const exposed = kindsOfNpu.map((spans, k) => {
        const pieces: Range[] = [];
        if (k > 0) {
          uncovered(busy[k], computing, (_, from, to) => pieces.push([from, to]));
          const each = new Float64Array(spans.length);
          uncovered(spans.map(piece), computing, (i, from, to) => (each[i] += to - from));
          spans.forEach((span, i) => each[i] > 0 && exposures.push({ span, exposed: each[i] }));
        }
        if (spans.length > 0) this.lanes.push({ npu: of, kind: k, first, spans, exposed: pieces });
        first &&= spans.length === 0;
        return total(pieces);
      });
      this.uses.push({
        computing: total(computing), communicating: total(union(busy.slice(1).flat())), exposed,
        idle: length - total(union(busy.flat())),
      });
    });
    this.longest = exposures.sort((a, b) => b.exposed - a.exposed || a.span - b.span)
      .slice(0, LONGEST);
  }
}
