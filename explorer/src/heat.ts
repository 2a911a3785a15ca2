// Links by time: the third kind of Gantt, a row per link, the busiest first, each bin of time in
// the ramp's colour for how busy the link was in it.

import type { Scale } from "./axis.ts";
import { ramp, STEPS } from "./colour.ts";
import { group } from "./groups.ts";
import type { Chart, Row } from "./lanes.ts";
import { busyShare } from "./measure.ts";
import type { Pen } from "./pen.ts";
import type { Loaded } from "./run.ts";
import type { Selection } from "./state.ts";
import { share, time as timeWords } from "./words.ts";

/** Up to so many rows have names; more are lower, and very many a pixel each. */
const NAMED = 64;
const MANY = 512;

/** The links by busy share: those of a selected node only. */
export function heatRows(loaded: Loaded, selection: Selection): Row[] {
  const { outgoing, incoming, linkNames } = loaded;
  const links = selection?.kind === "node"
    ? [...new Set([...group(outgoing, selection.id), ...group(incoming, selection.id)])]
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
