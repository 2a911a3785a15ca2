// Draws the Gantt chart: a row per link or NPU, a bar per hop, time to the right.
//
// Hops that share a pixel are one bar: the search leaps over all that start within it, so a row
// costs no more than its width, however many hops it has.

import { drawMarks, drawTimes, type Mark, Scale } from "./axis.ts";
import type { Palette } from "./colour.ts";
import { group } from "./groups.ts";
import { drawHeat, heatRows } from "./heat.ts";
import { busyShare } from "./measure.ts";
import type { Pen } from "./pen.ts";
import type { Loaded } from "./run.ts";
import type { Gantt, Selection } from "./state.ts";
import { shown, whole } from "./words.ts";

export interface Row {
  name: string;
  links: number[];
  top: number;
  /** The height of one link's lane. */
  lane: number;
  height: number;
}

export interface Chart {
  loaded: Loaded;
  rows: Row[];
  range: [number, number];
  marks: Mark[];
  selection: Selection;
  /** Whether the critical path is marked. */
  critical: boolean;
  scroll: number;
  /** Whether rows are links by time, in colours. */
  heat?: boolean;
  palette: Palette;
}

export const AXIS = 20;
const GAP = 4;
/** How many hops that began before a moment may still be on a link. */
const EARLIER = 8;
/** Neighbouring bins overlap by this much, so that no seam shows. */
const OVERLAP = 0.5;

/** The names' width. */
export const gutter = (width: number) => Math.min(150, Math.floor(width / 4));

/** Rows, the selected ones first; by link, the busiest next. */
export function rowsOf(loaded: Loaded, by: Gantt, selection: Selection): Row[] {
  if (by === "heat") return heatRows(loaded, selection);
  const first = chosen(loaded, selection);
  const rows: Omit<Row, "top" | "height">[] = [];
  if (by === "link") {
    const order = [...loaded.linkNames.keys()].sort((a, b) =>
      first[b] - first[a] || busyShare(loaded, b) - busyShare(loaded, a) || a - b);
    for (const link of order) rows.push({ name: loaded.linkNames[link], links: [link], lane: 12 });
  } else {
    const isFirst = (node: number) =>
      selection?.kind === "node" && selection.id === node
      || group(loaded.outgoing, node).some((link) => selection?.kind !== "node" && first[link]);
    const npus = [...loaded.nodeNames.keys()]
      .filter((node) => loaded.run.network.nodes.is_switch[node] === 0)
      .sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)) || a - b);
    for (const node of npus) {
      const links = [...group(loaded.outgoing, node)];
      rows.push({ name: loaded.nodeNames[node], links, lane: links.length > 1 ? 6 : 12 });
    }
  }
  let top = 0;
  return rows.map((row) => {
    const placed = { ...row, top, height: Math.max(12, row.links.length * row.lane) + GAP };
    top += placed.height;
    return placed;
  });
}

function chosen(loaded: Loaded, selection: Selection): Uint8Array {
  const first = new Uint8Array(loaded.links);
  if (selection?.kind === "link") first[selection.id] = 1;
  if (selection?.kind === "node" && selection.id < loaded.nodes) {
    for (const link of group(loaded.outgoing, selection.id)) first[link] = 1;
    for (const link of group(loaded.incoming, selection.id)) first[link] = 1;
  }
  const { hops } = loaded;
  if (selection?.kind === "chunk" && hops !== null && selection.id < loaded.run.chunks.count) {
    for (const hop of group(hops.byChunk, selection.id)) first[hops.link[hop]] = 1;
  }
  return first;
}

/** The first place in `hops` whose hop starts at `moment` or later. */
export function startingAt(starts: Float64Array, hops: Uint32Array, moment: number): number {
  let low = 0;
  let high = hops.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[hops[middle]] < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function drawGantt(pen: Pen, chart: Chart, width: number, height: number) {
  const { palette, loaded, range } = chart;
  const left = gutter(width);
  const time = new Scale(...range, left, width - 8);
  drawTimes(pen, palette, time, AXIS - 4, height, AXIS - 7);
  pen.within(0, AXIS, width, height - AXIS, () => {
    for (const row of chart.rows) {
      const top = row.top - chart.scroll;
      if (top + row.height < 0 || top > height || row.height < 12) continue;
      pen.within(0, top, left - 4, row.height, () => {
        const name = shown(row.name, Math.floor(left / 6.8));
        pen.words(name, 8, row.height / 2 + 3.5, { size: 11, colour: palette.text });
      });
      if (chart.heat) continue;
      row.links.forEach((link, lane) => {
        drawLane(pen, chart, link, top + GAP / 2 + lane * row.lane, row.lane, left, time);
      });
      pen.begin();
      pen.move(0, top + row.height);
      pen.line(width, top + row.height);
      pen.opacity(0.5);
      pen.stroke(palette.line, 1);
      pen.opacity(1);
    }
    if (chart.heat) drawHeat(pen, chart, left, width, height - AXIS, time);
  });
  const happened = loaded.run.moments.map(({ at_ps: at }): Mark => [at, "", palette.dead, [3, 2]]);
  drawMarks(pen, time, [...happened, ...chart.marks], AXIS - 5, height);
}

function drawLane(
  pen: Pen, chart: Chart, link: number, top: number, height: number, left: number,
  time: Scale,
) {
  const { hops } = chart.loaded;
  if (hops === null) {
    drawBins(pen, chart, link, top, height, left, time);
    return;
  }
  const { palette, selection } = chart;
  const those = group(hops.byLink, link);
  const kinds: [number, number][][] = [[], [], [], []];
  const labels: [string, number][] = [];
  let labelled = left;
  const thin = height > 8 ? 1 : 0.5;
  let i = Math.max(0, startingAt(hops.start, those, chart.range[0]) - EARLIER);
  while (i < those.length && hops.start[those[i]] <= chart.range[1]) {
    const hop = those[i];
    const x = Math.max(left, time.at(hops.start[hop]));
    const end = Math.max(x, time.at(hops.end[hop]));
    const followed = selection?.kind === "chunk" && hops.chunk[hop] === selection.id;
    const critical = chart.critical && chart.loaded.critical.has(hop);
    const kind = followed ? 3 : critical ? 2 : hops.reduces[hop];
    if (end > left) kinds[kind].push([x, Math.max(0.6, end - x - (end - x > 3 ? 1 : 0))]);
    if (end - x > 14 && height > 8) {
      const label = whole(hops.chunk[hop]);
      const width = 8 + 6 * label.length;
      const middle = (x + end) / 2;
      if (end - x > width && middle - width / 2 >= labelled) {
        labels.push([label, middle]);
        labelled = middle + width / 2;
      }
    }
    i = end - x >= 1 ? i + 1
      : Math.max(i + 1, startingAt(hops.start, those, time.value(x + 1)));
  }
  const colours = [palette.transfer, palette.reduce, palette.critical, palette.critical];
  kinds.forEach((bars, kind) => {
    if (bars.length === 0) return;
    pen.begin();
    for (const [x, width] of bars) pen.box(x, top, width, height - thin);
    pen.opacity(kind < 2 && selection?.kind === "chunk" ? 0.3 : 0.8);
    pen.fill(colours[kind]);
  });
  pen.opacity(1);
  for (const [label, x] of labels) {
    pen.words(label, x, top + height - 3, { size: 9, colour: palette.back, align: "center" });
  }
}

/** Without hops: how busy the link was, bin by bin. */
function drawBins(
  pen: Pen, chart: Chart, link: number, top: number, height: number, left: number,
  time: Scale,
) {
  const { count, width_ps: width } = chart.loaded.run.bins;
  pen.begin();
  for (let bin = 0; bin < count; bin++) {
    const busy = chart.loaded.bins[link * count + bin] / 255;
    const x = Math.max(left, time.at(bin * width));
    const end = time.at((bin + 1) * width);
    if (busy === 0 || end <= left || bin * width > chart.range[1]) continue;
    pen.box(x, top + (height - 1) * (1 - busy), end - x + OVERLAP, (height - 1) * busy);
  }
  pen.opacity(0.8);
  pen.fill(chart.palette.transfer);
  pen.opacity(1);
}

/** The hop under a point of the chart, or its row's link, or nothing. */
export function pickGantt(
  chart: Omit<Chart, "palette">, x: number, y: number, width: number,
): { link: number; hop: number | null; moment: number } | null {
  const left = gutter(width);
  const time = new Scale(...chart.range, left, width - 8);
  const inside = y - AXIS + chart.scroll;
  const row = chart.rows.find((r) => inside >= r.top && inside < r.top + r.height);
  if (y < AXIS || row === undefined || row.links.length === 0) return null;
  const lane = Math.floor((inside - row.top - GAP / 2) / row.lane);
  const link = row.links[Math.max(0, Math.min(row.links.length - 1, lane))];
  const moment = time.value(x);
  const { hops } = chart.loaded;
  if (hops === null || x < left || chart.heat) return { link, hop: null, moment };
  const those = group(hops.byLink, link);
  const i = startingAt(hops.start, those, moment);
  const hit = those.subarray(Math.max(0, i - EARLIER), i).find((hop) => hops.end[hop] > moment);
  return { link, hop: hit ?? null, moment };
}
