// Draws the slider: the number of busy links over time, and the moments that matter.

import { scaleLinear } from "d3-scale";
import type { Palette } from "./colour.ts";
import { happening } from "./moments.ts";
import type { Pen } from "./pen.ts";
import type { Loaded } from "./run.ts";
import { shown, tick, whole } from "./words.ts";

export const MARGIN = 12;

export interface Slider {
  loaded: Loaded;
  length: number;
  moment: number;
  mark: number | null;
  range: [number, number] | null;
  palette: Palette;
  /** Where the pointer is, as a moment. */
  pointer?: number | null;
}

export function drawTraffic(pen: Pen, slider: Slider, width: number, height: number) {
  const { palette, loaded, length } = slider;
  const { traffic, run } = loaded;
  const base = height - 17;
  const most = Math.max(0, ...traffic);
  const largest = most || 1;
  const x = scaleLinear().domain([0, length]).range([MARGIN, width - MARGIN]);
  const y = (busy: number) => base - (busy / largest) * (base - 14);
  if (slider.range !== null) {
    const [from, to] = slider.range.map(x);
    pen.begin();
    pen.box(from, 0, Math.max(1, to - from), base);
    pen.opacity(0.12);
    pen.fill(palette.accent);
    pen.opacity(1);
  }
  if (traffic.length > 0) {
    pen.begin();
    pen.move(x(0), base);
    traffic.forEach((busy, bin) => {
      pen.line(x(Math.min(length, bin * run.bins.width_ps)), y(busy));
      pen.line(x(Math.min(length, (bin + 1) * run.bins.width_ps)), y(busy));
    });
    pen.line(x(Math.min(length, traffic.length * run.bins.width_ps)), base);
    pen.opacity(0.28);
    pen.fill(palette.transfer);
    pen.opacity(1);
    pen.stroke(palette.transfer, 1);
  }
  const lettering = { size: 10, colour: palette.soft, halo: palette.back } as const;
  pen.words(`busy links, up to ${whole(most)} of ${whole(loaded.links)}`, MARGIN, 10, lettering);
  const ticks = x.ticks(Math.max(2, Math.floor(width / 120)));
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : length;
  pen.begin();
  for (const t of ticks) {
    pen.move(x(t), base);
    pen.line(x(t), base + 4);
  }
  pen.move(MARGIN, base);
  pen.line(width - MARGIN, base);
  pen.stroke(palette.line, 1);
  for (const t of ticks) {
    if (x(t) > width - 30) continue;
    const align = t === 0 ? "start" : "center";
    pen.words(tick(t, step, length), x(t), height - 3, { ...lettering, align });
  }
  const { pointer } = slider;
  const near = (6 / (width - 2 * MARGIN)) * length;
  pen.begin();
  for (const { at_ps: at } of run.moments) {
    pen.move(x(at), 12);
    pen.line(x(at), base);
  }
  pen.stroke(palette.dead, 1.2, [3, 2]);
  pen.begin();
  for (const { at_ps: at } of run.moments) pen.circle(x(at), 12, 3);
  pen.fill(palette.dead);
  if (pointer !== undefined && pointer !== null) {
    const words = shown(happening(loaded, pointer - near, pointer + near), Math.floor(width / 7));
    const align = pointer > length / 2 ? "end" : "start";
    pen.words(words, x(pointer) + (align === "end" ? -8 : 8), 46,
      { size: 11, colour: palette.dead, halo: palette.back, align });
  }
  const lines: [number | null, string, string, number[]][] = [
    [run.bound_ps, "bound", palette.cut, [4, 3]],
    [run.completion_ps, "completion", palette.soft, [1, 2]],
    [slider.mark, "mark", palette.critical, [2, 2]],
    [slider.moment, "", palette.accent, []],
  ];
  for (const [t, words, colour, dash] of lines) {
    if (t === null || t > length) continue;
    pen.begin();
    pen.move(x(t), words === "completion" ? 12 : 0);
    pen.line(x(t), base + 4);
    pen.stroke(colour, words === "" ? 2 : 1.4, dash);
    const end = x(t) > width / 2;
    const top = words === "completion" ? 22 : words === "mark" ? 34 : 10;
    pen.words(words, x(t) + (end ? -4 : 4), top, {
      ...lettering, colour, align: end ? "end" : "start",
    });
  }
  pen.begin();
  pen.circle(x(slider.moment), base, 5);
  pen.fill(palette.accent);
}
