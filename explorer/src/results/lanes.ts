// Draws a timeline: a lane for each kind of span that an NPU has, time to the right. Where an NPU
// communicates and computes nothing, its span is hatched.

import { drawTimes, Scale } from "../axis.ts";
import type { Palette } from "../colour.ts";
import type { Pen } from "../pen.ts";
import { shown } from "../words.ts";
import { hue } from "./hues.ts";
import type { Lane, Piece, Strip } from "./spans.ts";

export interface Lanes {
  strip: Strip;
  range: Piece;
  scroll: number;
  palette: Palette;
}

export const TOP = 20;
export const LANE = 16;
const RIGHT = 8;
const HATCH = 5;

export const besides = (width: number) => Math.min(170, Math.floor(width / 3.5));

export const scaleOf = (range: Piece, width: number) =>
  new Scale(...range, besides(width), width - RIGHT);

/** The first of sorted things for which `late` holds. */
function firstOf(count: number, late: (i: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (late(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function drawLanes(pen: Pen, lanes: Lanes, width: number, height: number) {
  const { strip, range, scroll, palette } = lanes;
  const left = besides(width);
  const time = scaleOf(range, width);
  drawTimes(pen, palette, time, TOP - 4, height, TOP - 7);
  pen.within(0, TOP, width, height - TOP, () => {
    strip.lanes.forEach((lane, i) => {
      const top = i * LANE - scroll;
      if (top + LANE < 0 || top > height) return;
      const style = { size: 11, colour: palette.text };
      const half = Math.floor(left / 2 / 6.6);
      if (lane.first) {
        pen.words(shown(strip.npus[lane.npu], half), 8, top + 12, { ...style, bold: true });
        if (i > 0) {
          pen.begin();
          pen.move(0, top);
          pen.line(width, top);
          pen.stroke(palette.line, 1);
        }
      }
      const words = shown(strip.kinds[lane.kind], half);
      pen.words(words, left - 6, top + 12, { ...style, colour: palette.soft, align: "end" });
      drawLane(pen, lanes, lane, top + 2, width);
    });
  });
}

function drawLane(
  pen: Pen, { strip, range, palette }: Lanes, lane: Lane, top: number, width: number,
) {
  const { start, duration, name, names } = strip.timeline;
  const left = besides(width);
  const time = scaleOf(range, width);
  const { spans, kind, exposed } = lane;
  const clip = (t: number) => Math.max(left, Math.min(width - RIGHT, time.at(t)));
  const tall = LANE - 4;
  const labels: [string, number][] = [];
  pen.begin();
  let drawn = -Infinity;
  for (const span of spans) {
    if (start[span] > range[1]) break;
    const [from, to] = [clip(start[span]), clip(start[span] + duration[span])];
    // What ends within a pixel that is drawn already adds nothing.
    if (start[span] + duration[span] < range[0] || to < drawn + 0.5) continue;
    pen.box(from, top, Math.max(0.6, to - from - (to - from > 3 ? 1 : 0)), tall);
    drawn = to;
    if (to - from > 24) {
      const words = shown(names[name[span]], Math.floor((to - from - 6) / 5.4));
      if (words.length >= 5 || !words.endsWith("\u2026")) labels.push([words, (from + to) / 2]);
    }
  }
  pen.opacity(kind === 0 ? 0.8 : 0.5);
  pen.fill(kind === 0 ? palette.nodeLine : hue(palette, kind - 1));
  pen.opacity(1);
  pen.begin();
  for (let i = firstOf(exposed.length, (k) => exposed[k][1] >= range[0]); i < exposed.length; i++) {
    if (exposed[i][0] > range[1]) break;
    const [from, to] = [clip(exposed[i][0]), clip(exposed[i][1])];
    // The hatch lies on a grid over all, so that it stands still beside its neighbours.
    for (let x = Math.ceil(from / HATCH) * HATCH; x < to; x += HATCH) {
      pen.move(x, top + tall);
      const end = Math.min(to, x + HATCH);
      pen.line(end, top + tall - (end - x) * (tall / HATCH));
    }
    pen.move(from, top);
    pen.line(to, top);
    pen.move(from, top + tall);
    pen.line(to, top + tall);
  }
  pen.stroke(hue(palette, kind - 1), 1.3);
  for (const [words, x] of labels) {
    pen.words(words, x, top + 9, {
      size: 9, align: "center", ...(kind === 0 ? { colour: palette.back }
        : { colour: palette.text, halo: palette.back }),
    });
  }
}

/** The span at a point, or -1. */
export function pickSpan(
  { strip, range, scroll }: Omit<Lanes, "palette">, x: number, y: number, width: number,
): number {
  const lane = strip.lanes[Math.floor((y - TOP + scroll) / LANE)];
  if (y < TOP || lane === undefined || x < besides(width)) return -1;
  const { start, duration } = strip.timeline;
  const moment = scaleOf(range, width).value(x);
  const before = firstOf(lane.spans.length, (i) => start[lane.spans[i]] > moment);
  return lane.spans.slice(0, before).reverse()
    .find((span) => start[span] + duration[span] >= moment) ?? -1;
}
