// Draws rows over time: their names to the left, and in each its lanes, one beneath the other. The
// Gantt chart and the timelines of training are such drawings.

import { drawMarks, drawTimes, type Mark, type Range, Scale } from "./axis.ts";
import type { Palette } from "./colour.ts";
import { firstOf } from "./groups.ts";
import type { Pen } from "./pen.ts";
import { shown } from "./words.ts";

export interface Row {
  name: string;
  /** What is written before its lanes; "" for nothing. */
  kind?: string;
  /** What its lanes are of: links, ... */
  lanes: number[];
  top: number;
  /** The height of one lane. */
  lane: number;
  height: number;
}

export interface Chart {
  rows: Row[]; range: Range; scroll: number; marks: Mark[]; palette: Palette;
  /** Draws a row's i-th lane from `top`. */
  draw: (pen: Pen, row: Row, i: number, top: number, time: Scale) => void;
}

export const AXIS = 20;
/** Room above and below a row's lanes, together. */
export const GAP = 4;
const RIGHT = 8;
/** Rows that are lower have no names. */
const NAMED = 12;
/** How many spans that began before a moment may still go on in a lane. */
const EARLIER = 8;

/** The names' width. */
export const gutter = (width: number) => Math.min(160, Math.floor(width / 4));

export const scaleOf = (range: Range, width: number) =>
  new Scale(...range, gutter(width), width - RIGHT);

/** How far down in a row its first lane is. */
const asideOf = ({ height, lanes, lane }: Row) => (height - lanes.length * lane) / 2;

export function drawRows(pen: Pen, chart: Chart, width: number, height: number) {
  const { palette, scroll } = chart;
  const left = gutter(width);
  const time = scaleOf(chart.range, width);
  drawTimes(pen, palette, time, AXIS - 4, height, AXIS - 7);
  pen.within(0, AXIS, width, height - AXIS, () => {
    const inSight = chart.rows.filter((row) =>
      row.top + row.height >= scroll && row.top - scroll <= height);
    for (const row of inSight) {
      const top = row.top - scroll;
      const base = top + row.height / 2 + 3.5;
      if (row.height >= NAMED) {
        const letters = Math.floor(left / (row.kind === undefined ? 6.8 : 13.6));
        pen.words(shown(row.name, letters), 8, base, { size: 11, colour: palette.text });
        const soft = { size: 11, colour: palette.soft, align: "end" } as const;
        pen.words(shown(row.kind ?? "", letters), left - 6, base, soft);
        pen.lines([[row.name === "" ? left : 0, top, width, top]]);
        pen.glow(palette.line, 1, 0.5);
      }
      row.lanes.forEach((_, i) =>
        chart.draw(pen, row, i, top + asideOf(row) + i * row.lane, time));
    }
  });
  drawMarks(pen, palette, time, chart.marks, AXIS - 5, height);
}

/** What is at a point: a row, one of its lanes, and a moment; null beside all rows. */
export function rowAt({ rows, range, scroll }: Pick<Chart, "rows" | "range" | "scroll">,
  x: number, y: number, width: number) {
  const inside = y - AXIS + scroll;
  const row = rows.find(({ top, height }) => inside >= top && inside < top + height);
  if (y < AXIS || row === undefined || row.lanes.length === 0) return null;
  const i = Math.floor((inside - row.top - asideOf(row)) / row.lane);
  const lane = row.lanes[Math.max(0, Math.min(row.lanes.length - 1, i))];
  return { row, lane, moment: scaleOf(range, width).value(x), named: x < gutter(width) };
}

/** What a lane holds, by start. */
export interface Spans {
  ids: ArrayLike<number>; start: ArrayLike<number>; end: (id: number) => number;
  /** Whether each begins where the one before it has ended. */
  apart: boolean;
}

/** The first place of a lane whose span starts at `moment` or later. */
export const startingAt = (start: ArrayLike<number>, ids: ArrayLike<number>, moment: number) =>
  firstOf(ids.length, (i) => start[ids[i]] >= moment);

/** The span of a lane at a moment, the latest of several; -1 for none. */
export function spanAt({ ids, start, end, apart }: Spans, moment: number): number {
  const after = startingAt(start, ids, moment);
  for (let i = after - 1; i >= (apart ? Math.max(0, after - EARLIER) : 0); i--) {
    if (end(ids[i]) > moment) return ids[i];
  }
  return -1;
}

/** How spans of a kind look. */
export interface Style { colour: string; opacity: number; words: { colour: string; halo?: string } }

/**
 * Draws a lane's spans, `kind` telling which of the styles each has and `label` its name in so many
 * pixels. Spans that share a pixel are one: where they are apart the search leaps over all that
 * start within it, so that a lane costs no more than its width, however many it has.
 */
export function drawSpans(
  pen: Pen, spans: Spans, styles: Style[], kind: (id: number) => number,
  label: (id: number, room: number) => string, time: Scale, top: number, height: number,
) {
  const { ids, start, end, apart } = spans;
  const bars: [number, number][][] = styles.map(() => []);
  const labels: [string, number, Style][] = [];
  const thin = height > 8 ? 1 : 0.5;
  const inside = (t: number) => Math.max(time.from, Math.min(time.to, time.at(t)));
  let drawn = -Infinity;
  let i = apart ? Math.max(0, startingAt(start, ids, time.low) - EARLIER) : 0;
  while (i < ids.length && start[ids[i]] <= time.high) {
    const id = ids[i];
    const [x, to] = [inside(start[id]), inside(end(id))];
    // What ends within a pixel that is drawn already adds nothing.
    if (end(id) > time.low && (apart || to >= drawn + 0.5)) {
      bars[kind(id)].push([x, Math.max(0.6, to - x - (to - x > 3 ? 1 : 0))]);
      drawn = to;
      const words = to - x > 14 && height > 8 ? label(id, to - x) : "";
      if (words !== "") labels.push([words, (x + to) / 2, styles[kind(id)]]);
    }
    i = !apart || to - x >= 1 ? i + 1
      : Math.max(i + 1, startingAt(start, ids, time.value(x + 1)));
  }
  styles.forEach(({ colour, opacity }, k) => {
    pen.begin();
    for (const [x, width] of bars[k]) pen.box(x, top, width, height - thin);
    pen.shade(colour, opacity);
  });
  for (const [words, x, style] of labels) {
    pen.words(words, x, top + height - 3, { size: 9, align: "center", ...style.words });
  }
}
