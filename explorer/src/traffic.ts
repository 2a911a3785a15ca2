// Draws the slider: the number of busy links over time, and the moments that matter.

import { drawMarks, drawTimes, type Mark, Scale } from "./axis.ts";
import type { Palette } from "./colour.ts";
import { happened, happening } from "./moments.ts";
import type { Pen } from "./pen.ts";
import type { Loaded } from "./run.ts";
import { shown, whole } from "./words.ts";

export const MARGIN = 12;

export interface Slider {
  loaded: Loaded;
  length: number;
  moment: number;
  marks: Mark[];
  range: [number, number] | null;
  palette: Palette;
  /** Where the pointer is, as a moment. */
  pointer?: number | null;
}

export function drawTraffic(pen: Pen, slider: Slider, width: number, height: number) {
  const { palette, loaded, length, marks, pointer = null } = slider;
  const { traffic, run } = loaded;
  const base = height - 17;
  const most = Math.max(0, ...traffic);
  const time = new Scale(0, length, MARGIN, width - MARGIN);
  if (slider.range !== null) {
    const [from, to] = slider.range.map((t) => time.at(t));
    pen.block(from, 0, Math.max(1, to - from), base, palette.accent, 0.12);
  }
  if (traffic.length > 0) {
    const x = (bin: number) => time.at(Math.min(length, bin * run.bins.width_ps));
    pen.begin();
    pen.move(x(0), base);
    traffic.forEach((busy, bin) => {
      const y = base - (busy / (most || 1)) * (base - 14);
      pen.line(x(bin), y);
      pen.line(x(bin + 1), y);
    });
    pen.line(x(traffic.length), base);
    pen.opacity(0.28);
    pen.fill(palette.transfer);
    pen.opacity(1);
    pen.stroke(palette.transfer, 1);
  }
  const lettering = { size: 10, colour: palette.soft, halo: palette.back } as const;
  pen.words(`busy links, up to ${whole(most)} of ${whole(loaded.links)}`, MARGIN, 10, lettering);
  drawTimes(pen, palette, time, base, base + 4, height - 3);
  pen.lines([[MARGIN, base, width - MARGIN, base]]);
  pen.stroke(palette.line, 1);
  const events = happened(palette, loaded);
  drawMarks(pen, time, events, 12, base);
  pen.begin();
  for (const [at] of events) pen.circle(time.at(at), 12, 4);
  pen.fill(palette.dead);
  pen.stroke(palette.back, 1);
  if (pointer !== null) {
    const near = (6 / (width - 2 * MARGIN)) * length;
    const words = shown(happening(loaded, pointer - near, pointer + near), Math.floor(width / 7));
    const align = pointer > length / 2 ? "end" : "start";
    pen.words(words, time.at(pointer) + (align === "end" ? -8 : 8), 46,
      { size: 11, colour: palette.dead, halo: palette.back, align });
  }
  drawMarks(pen, time, marks, 0, base + 4);
  for (const [t, words, colour] of marks.filter(([t]) => t <= length)) {
    const align = time.at(t) > width / 2 ? "end" : "start";
    const top = { completion: 22, mark: 34 }[words] ?? 10;
    pen.words(words, time.at(t) + (align === "end" ? -4 : 4), top, { ...lettering, colour, align });
  }
  pen.begin();
  pen.circle(time.at(slider.moment), base, 5);
  pen.fill(palette.accent);
}
