// The Gantt chart of a run: a row per link or NPU with a bar per hop, or, without hops, with how
// busy the link was; or a row per link in the ramp's colours. And its pane.

import { useMemo } from "preact/hooks";
import type { Scale } from "./axis.ts";
import { ramp, STEPS } from "./colour.ts";
import { Choose } from "./controls.tsx";
import { group } from "./groups.ts";
import { type Chart, drawSpans, GAP, type Row, rowAt, spanAt } from "./lanes.ts";
import { busyShare, happened, happening, linksOf, marksOf } from "./measure.ts";
import type { Page } from "./page.ts";
import type { Pen } from "./pen.ts";
import type { Hops, Loaded } from "./run.ts";
import { type Gantt, GANTTS, keysOf, type Selection, useView } from "./state.ts";
import { TimeButtons, TimePane } from "./timepane.tsx";
import { share, time, time as timeWords, whole } from "./words.ts";

/** Up to so many rows have names; more are lower, and very many a pixel each. */
const NAMED = 64;
const MANY = 512;

/** The links by busy share: those of a selected node only. */
export function heatRows(loaded: Loaded, selection: Selection): Row[] {
  const { linkNames } = loaded;
  const links = selection?.kind === "node" ? [...new Set(linksOf(loaded, selection))]
    : [...linkNames.keys()];
  links.sort((a, b) => busyShare(loaded, b) - busyShare(loaded, a) || a - b);
  const height = links.length <= NAMED ? 14 : links.length <= MANY ? 3 : 1;
  return links.map((link, i) =>
    ({ name: linkNames[link], lanes: [link], top: i * height, lane: height, height }));
}

export function drawHeat(
  pen: Pen, chart: Chart, { run, bins }: Loaded, selection: Selection, time: Scale,
) {
  const { rows, range, scroll, palette } = chart;
  const { count, width_ps: width } = run.bins;
  const first = Math.max(0, Math.floor(range[0] / width));
  const last = Math.min(count, Math.ceil(range[1] / width));
  const tall = rows[0]?.height ?? 1;
  const seam = tall > 3 ? 1 : 0;
  const steps: [number, number, number][][] = Array.from({ length: STEPS }, () => []);
  for (const { lanes: [link], top } of rows) {
    // Neighbouring bins of one colour are one box.
    let begun = first;
    for (let bin = first; bin < last; bin++) {
      const busy = bins[link * count + bin];
      if (bin + 1 < last && stepOf(bins[link * count + bin + 1]) === stepOf(busy)) continue;
      if (busy > 0) steps[stepOf(busy)].push([top - scroll, begun, bin + 1]);
      begun = bin + 1;
    }
  }
  const x = (bin: number) => Math.max(time.from, Math.min(time.to, time.at(bin * width)));
  ramp(palette.dark).forEach((colour, step) => {
    pen.begin();
    for (const [top, from, to] of steps[step]) pen.box(x(from), top, x(to) - x(from), tall - seam);
    pen.fill(colour);
  });
  const chosen = rows.find(({ lanes }) => selection?.kind === "link" && lanes[0] === selection.id);
  if (chosen !== undefined) {
    pen.block(time.from - 7, chosen.top - scroll - 1, 5, tall + 2, palette.accent);
  }
}

/** The ramp's step of a bin; -1 where the link is idle. */
const stepOf = (busy: number) => (busy === 0 ? -1 : Math.floor((busy / 256) * STEPS));

/** What the pointer is over: the link, the bin and how busy it was. */
export function heatWords(loaded: Loaded, link: number, moment: number): string {
  const { count, width_ps: width } = loaded.run.bins;
  const bin = Math.floor(moment / width);
  if (!(bin >= 0 && bin < count)) return loaded.linkNames[link];
  return `${loaded.linkNames[link]}, ${timeWords(bin * width)} to ${timeWords((bin + 1) * width)}: `
    + `busy ${share(loaded.bins[link * count + bin] / 255)}`;
}

/** Neighbouring bins overlap by this much, so that no seam shows. */
const OVERLAP = 0.5;

/** Rows, the selected ones first; by link, the busiest next. */
export function rowsOf(loaded: Loaded, by: Gantt, selection: Selection): Row[] {
  if (by === "heat") return heatRows(loaded, selection);
  const { outgoing, linkNames, nodeNames } = loaded;
  const first = new Set(linksOf(loaded, selection));
  const isFirst = (links: Iterable<number>) => Number([...links].some((link) => first.has(link)));
  let rows: Omit<Row, "top" | "height">[];
  if (by === "link") {
    rows = [...linkNames.keys()].sort((a, b) =>
      isFirst([b]) - isFirst([a]) || busyShare(loaded, b) - busyShare(loaded, a) || a - b)
      .map((link) => ({ name: linkNames[link], lanes: [link], lane: 12 }));
  } else {
    const leads = (node: number) => (selection?.kind === "node" ? Number(selection.id === node)
      : isFirst(group(outgoing, node)));
    rows = [...nodeNames.keys()]
      .filter((node) => loaded.run.network.nodes.is_switch[node] === 0)
      .sort((a, b) => leads(b) - leads(a) || a - b)
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

const hopsOn = (hops: Hops, link: number) => ({
  ids: group(hops.byLink, link), apart: true, start: hops.start,
  end: (hop: number) => hops.end[hop],
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

export function GanttPane({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { store } = page;
  const { gantt, selection } = useView(store);
  const { hops } = loaded;
  const heat = gantt === "heat";
  // A link that is selected stays where it is in the heat.
  const first = heat && selection?.kind !== "node" ? null : selection;
  const rows = useMemo(() => rowsOf(loaded, gantt, first), [loaded, gantt, first]);

  const tell = (chart: Chart, x: number, y: number, width: number) => {
    const found = pickGantt(chart, loaded, x, y, width);
    if (found === null) return "";
    const { link, hop, moment } = found;
    const near = (5 / width) * (chart.range[1] - chart.range[0]);
    return happening(loaded, moment - near, moment + near)
      || (heat ? heatWords(loaded, link, moment) : words(loaded, link, hop));
  };
  const pick = (chart: Chart, x: number, y: number, width: number) => {
    const found = pickGantt(chart, loaded, x, y, width);
    if (found === null) return;
    const { link, hop, moment, named } = found;
    if (named) {
      store.select({ kind: "link", id: link });
      return;
    }
    page.seek(moment);
    if (heat) store.change({ selection: { kind: "link", id: link } });
    else if (hops !== null && hop >= 0) {
      store.change({ selection: { kind: "chunk", id: hops.chunk[hop] } });
    }
  };
  return (
    <TimePane
      page={page} title="Gantt chart" class="gantt" rows={rows} tell={tell} pick={pick}
      label={`Hops over time, ${whole(rows.length)} rows. The tables say the same.`}
      chart={(scroll) => ganttOf(page, scroll, rows)}
    >
      <Choose
        title="Gantt by" value={gantt} onChange={(gantt) => store.change({ gantt })}
        options={keysOf(GANTTS).map((key) => [key, GANTTS[key]])}
      />
      <TimeButtons page={page} />
    </TimePane>
  );
}

function words({ linkNames, hops }: Loaded, link: number, hop: number): string {
  if (hop < 0 || hops === null) return linkNames[link];
  return `${linkNames[link]} chunk ${whole(hops.chunk[hop])}, `
    + `transfer ${whole(hops.transfer[hop])}: ${time(hops.start[hop])} to ${time(hops.end[hop])}`
    + (hops.reduces[hop] === 1 ? ", reduces" : "");
}
