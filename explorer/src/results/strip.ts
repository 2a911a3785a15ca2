// A timeline's drawing: a row for each kind of span that an NPU has. Where an NPU communicates and
// computes nothing, its span is hatched.

import type { Range, Scale } from "../axis.ts";
import { drawSpans, type Chart, GAP, type Row, type Spans, type Style } from "../lanes.ts";
import type { Page } from "../page.ts";
import type { Pen, Piece } from "../pen.ts";
import { shown } from "../words.ts";
import { hue } from "./hues.ts";
import type { Strip } from "./spans.ts";

const TALL = 12;
const HATCH = 5;

export const rowsOfStrip = ({ lanes, npus, kinds }: Strip): Row[] =>
  lanes.map(({ npu, kind, first }, i) => ({
    name: first ? npus[npu] : "", kind: kinds[kind], lanes: [i], lane: TALL,
    top: i * (TALL + GAP), height: TALL + GAP,
  }));

export const spansOf = ({ lanes, timeline: { start, duration } }: Strip, lane: number): Spans =>
  ({ ids: lanes[lane].spans, start, end: (span) => start[span] + duration[span], apart: false });

export function stripChart(page: Page, strip: Strip, scroll: number, rows: Row[]): Chart {
  const { palette, range } = page;
  const { name, names } = strip.timeline;
  const label = (span: number, room: number) => {
    const words = room > 24 ? shown(names[name[span]], Math.floor((room - 6) / 5.4)) : "";
    return words.length < 5 && words.endsWith("\u2026") ? "" : words;
  };
  const draw: Chart["draw"] = (pen, { lanes: [i] }, _, top, time) => {
    const { kind, exposed } = strip.lanes[i];
    const colour = kind === 0 ? palette.nodeLine : hue(palette, kind - 1);
    const style: Style = kind === 0 ? { colour, opacity: 0.8, words: { colour: palette.back } }
      : { colour, opacity: 0.5, words: { colour: palette.text, halo: palette.back } };
    drawSpans(pen, spansOf(strip, i), [style], () => 0, label, time, top, TALL);
    hatch(pen, exposed, time, top);
    pen.stroke(colour, 1.3);
  };
  return { rows, range, scroll, marks: [], palette, draw };
}

/** The hatch lies on a grid over all, so that it stands still beside its neighbours. */
function hatch(pen: Pen, pieces: Range[], time: Scale, top: number) {
  const bottom = top + TALL;
  const inside = (t: number) => Math.max(time.from, Math.min(time.to, time.at(t)));
  const lines: Piece[] = [];
  for (const piece of pieces) {
    if (piece[1] < time.low || piece[0] > time.high) continue;
    const [from, to] = piece.map(inside);
    for (let x = Math.ceil(from / HATCH) * HATCH; x < to; x += HATCH) {
      const end = Math.min(to, x + HATCH);
      lines.push([x, bottom, end, bottom - (end - x) * (TALL / HATCH)]);
    }
    lines.push([from, top, to, top], [from, bottom, to, bottom]);
  }
  pen.lines(lines);
}
