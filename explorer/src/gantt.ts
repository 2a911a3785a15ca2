// The Gantt chart of a run: a row per link or NPU with a bar per hop, or, without hops, with how
// busy the link was; or a row per link in the ramp's colours.

import type { Scale } from "./axis.ts";
import { group } from "./groups.ts";
import { drawHeat, heatRows } from "./heat.ts";
import { type Chart, drawSpans, GAP, type Row, rowAt, spanAt } from "./lanes.ts";
import { busyShare } from "./measure.ts";
import { happened, marksOf } from "./moments.ts";
import type { Page } from "./page.ts";
import type { Pen } from "./pen.ts";
import type { Hops, Loaded } from "./run.ts";
import type { Gantt, Selection } from "./state.ts";
import { whole } from "./words.ts";

/** Neighbouring bins overlap by this much, so that no seam shows. */
const OVERLAP = 0.5;

/** Rows, the selected ones first; by link, the busiest next. */
export function rowsOf(loaded: Loaded, by: Gantt, selection: Selection): Row[] {
  if (by === "heat") return heatRows(loaded, selection);
  const { outgoing, linkNames, nodeNames } = loaded;
  const first = chosen(loaded, selection);
  let rows: Omit<Row, "top" | "height">[];
  if (by === "link") {
    rows = [...linkNames.keys()].sort((a, b) =>
      first[b] - first[a] || busyShare(loaded, b) - busyShare(loaded, a) || a - b)
      .map((link) => ({ name: linkNames[link], lanes: [link], lane: 12 }));
  } else {
    const isFirst = (node: number) => Number(selection?.kind === "node" ? selection.id === node
      : group(outgoing, node).some((link) => first[link]));
    rows = [...nodeNames.keys()]
      .filter((node) => loaded.run.network.nodes.is_switch[node] === 0)
      .sort((a, b) => isFirst(b) - isFirst(a) || a - b)
      .map((node) => ({ name: nodeNames[node], lanes: [...group(outgoing, node)] }))
      .map((row) => ({ ...row, lane: row.lanes.length > 1 ? 6 : 12 }));
  }
  let bottom = 0;
  return rows.map((row) => {
    const height = Math.max(12, row.lanes.length * row.lane) + GAP;
    bottom += height;
    return { ...row, top: bottom - height, height };
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

const hopsOn = (hops: Hops, link: number) => ({
  ids: group(hops.byLink, link), start: hops.start, end: (hop: number) => hops.end[hop], apart: true,
});

/** The chart as it is seen now. */
export function ganttOf(page: Page, scroll: number, rows: Row[]): Chart {
  const { palette, current: loaded, range } = page;
  const { selection, critical, gantt } = page.store.view;
  const { hops } = loaded;
  const faded = selection?.kind === "chunk" ? 0.3 : 0.8;
  const words = { colour: palette.back };
  const styles = [
    { colour: palette.transfer, opacity: faded, words },
    { colour: palette.reduce, opacity: faded, words },
    { colour: palette.critical, opacity: 0.8, words },
  ];
  const chart: Chart = {
    rows, range, scroll, palette, marks: [...happened(palette, loaded), ...marksOf(page, loaded)],
  };
  if (gantt === "heat") {
    const drawAll: Chart["drawAll"] = (pen, inSight, time) =>
      drawHeat(pen, { ...chart, rows: inSight }, loaded, selection, time);
    return { ...chart, drawAll };
  }
  const kind = (hop: number) =>
    (selection?.kind === "chunk" && hops?.chunk[hop] === selection.id
    || critical && loaded.critical.has(hop) ? 2 : hops?.reduces[hop] ?? 0);
  const label = (hop: number, room: number) => {
    const name = whole(hops?.chunk[hop] ?? 0);
    return room > 8 + 6 * name.length ? name : "";
  };
  const draw: Chart["draw"] = (pen, { lanes, lane }, i, top, time) => {
    if (hops === null) drawBins(pen, chart, loaded, lanes[i], top, lane, time);
    else drawSpans(pen, hopsOn(hops, lanes[i]), styles, kind, label, time, top, lane);
  };
  return { ...chart, draw };
}

/** Without hops: how busy the link was, bin by bin. */
function drawBins(
  pen: Pen, { palette }: Chart, { run, bins }: Loaded, link: number, top: number, height: number,
  time: Scale,
) {
  const { count, width_ps: width } = run.bins;
  pen.begin();
  for (let bin = 0; bin < count; bin++) {
    const busy = bins[link * count + bin] / 255;
    const x = Math.max(time.from, time.at(bin * width));
    const end = time.at((bin + 1) * width);
    if (busy === 0 || end <= time.from || bin * width > time.high) continue;
    pen.box(x, top + (height - 1) * (1 - busy), end - x + OVERLAP, (height - 1) * busy);
  }
  pen.opacity(0.8);
  pen.fill(palette.transfer);
  pen.opacity(1);
}

/** The hop under a point of the chart, or its row's link, or nothing. */
export function pickGantt(
  chart: Pick<Chart, "rows" | "range" | "scroll">, { hops }: Loaded, x: number, y: number,
  width: number,
): { link: number; hop: number; moment: number; named: boolean } | null {
  const found = rowAt(chart, x, y, width);
  if (found === null) return null;
  const { lane: link, moment, named } = found;
  const hop = hops === null || named ? -1 : spanAt(hopsOn(hops, link), moment);
  return { link, hop, moment, named };
}
