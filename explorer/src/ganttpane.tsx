// The Gantt chart of a run: a row per link or NPU with a bar per hop, or, without hops, with how
// busy the link was; or a row per link in the ramp's colours. And its pane.

import { useMemo } from "preact/hooks";
import type { Scale } from "./axis.ts";
import { type Palette, ramp, STEPS } from "./colour.ts";
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

/** Rows of links, the busiest first, or of NPUs; but for the heat the selected ones lead. */
export function rowsOf(loaded: Loaded, by: Gantt, selection: Selection): Row[] {
  const { outgoing, linkNames, nodeNames } = loaded;
  const chosen = new Set(linksOf(loaded, selection));
  const heat = by === "heat";
  // Of a selected node the heat has its links only.
  const links = heat && selection?.kind === "node" ? [...chosen] : [...linkNames.keys()];
  const lead = ({ node, lanes }: { node: number; lanes: Iterable<number> }) =>
    Number(!heat && (node >= 0 && selection?.kind === "node" ? selection.id === node
      : [...lanes].some((link) => chosen.has(link))));
  const busy = links.map((link) => busyShare(loaded, link));
  const rows = by === "npu" ? [...nodeNames.keys()]
    .filter((node) => loaded.run.network.nodes.is_switch[node] === 0)
    .map((node) => ({ node, name: nodeNames[node], lanes: [...group(outgoing, node)] }))
    : [...links.keys()].sort((a, b) => busy[b] - busy[a] || links[a] - links[b])
      .map((i) => ({ node: -1, name: linkNames[links[i]], lanes: [links[i]] }));
  const low = links.length <= NAMED ? 14 : links.length <= MANY ? 3 : 1;
  let top = 0;
  return [...rows.filter(lead), ...rows.filter((row) => !lead(row))].map(({ name, lanes }) => {
    const lane = heat ? low : lanes.length > 1 ? 6 : 12;
    const height = heat ? low : Math.max(12, lanes.length * lane) + GAP;
    top += height;
    return { name, lanes, lane, height, top: top - height };
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
  const kind = (hop: number) =>
    (selection?.kind === "chunk" && hops?.chunk[hop] === selection.id
    || critical && loaded.critical.has(hop) ? 2 : hops?.reduces[hop] ?? 0);
  const label = (hop: number, room: number) => {
    const name = whole(hops?.chunk[hop] ?? 0);
    return room > 8 + 6 * name.length ? name : "";
  };
  return {
    rows, range, scroll, palette, marks: [...happened(palette, loaded), ...marksOf(page, loaded)],
    draw(pen, { lanes, lane }, i, top, time) {
      const link = lanes[i];
      if (hops !== null && gantt !== "heat") {
        drawSpans(pen, hopsOn(hops, link), styles, kind, label, time, top, lane);
        return;
      }
      drawBusy(pen, palette, loaded, link, time, top, lane);
      if (selection?.kind !== "link" || selection.id !== link) return;
      pen.block(time.from - 7, top - 1, 5, lane + 2, palette.accent);
    },
  };
}

/** How busy a link was, bin by bin, in the ramp's colours. */
function drawBusy(
  pen: Pen, palette: Palette, { run, bins }: Loaded, link: number, time: Scale, top: number,
  height: number,
) {
  const { count, width_ps: width } = run.bins;
  const last = Math.min(count, Math.ceil(time.high / width));
  const x = (bin: number) => Math.max(time.from, Math.min(time.to, time.at(bin * width)));
  const steps = Array.from({ length: STEPS }, (): [number, number][] => []);
  let begun = Math.max(0, Math.floor(time.low / width));
  // Neighbouring bins of one colour are one box.
  for (let bin = begun; bin < last; bin++) {
    const step = stepOf(bins[link * count + bin]);
    if (bin + 1 < last && stepOf(bins[link * count + bin + 1]) === step) continue;
    steps[step]?.push([x(begun), x(bin + 1)]);
    begun = bin + 1;
  }
  ramp(palette.dark).forEach((colour, step) => {
    if (steps[step].length === 0) return;
    pen.begin();
    const tall = height - Number(height > 3);
    for (const [from, to] of steps[step]) pen.box(from, top, to - from, tall);
    pen.fill(colour);
  });
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
      || (heat || hops === null ? heatWords(loaded, link, moment) : words(loaded, link, hop));
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
