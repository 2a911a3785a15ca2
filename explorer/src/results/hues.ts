// Colours and shapes for things that have names: told apart by the colour-blind, and without
// colour, too.

import type { Palette } from "../colour.ts";
import type { Pen } from "../pen.ts";

const LIGHT = [
  "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b08500", "#56b4e9", "#6a4bb5", "#7f4f24",
];
const DARK = [
  "#4aa8e0", "#ff8a3d", "#2cc79a", "#e79bc4", "#e6c229", "#a5dcff", "#a78bfa", "#c8976a",
];

export const HUES = LIGHT.length;

/** The colour of the i-th; grey after the last. */
export const hue = ({ dark, soft }: Palette, i: number) => (dark ? DARK : LIGHT)[i] ?? soft;

/** A small shape around a point, another for each of the hues. */
export function mark(pen: Pen, i: number, x: number, y: number, r: number) {
  const polygon = (...points: [number, number][]) => {
    pen.move(x + r * points[0][0], y + r * points[0][1]);
    for (const [dx, dy] of points) pen.line(x + r * dx, y + r * dy);
    pen.line(x + r * points[0][0], y + r * points[0][1]);
  };
  switch (i) {
    case 1: return pen.box(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r);
    case 2: return polygon([0, -1.2], [1.1, 0.8], [-1.1, 0.8]);
    case 3: return polygon([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]);
    case 4: return polygon([0, 1.2], [1.1, -0.8], [-1.1, -0.8]);
    case 5: return pen.box(x - 1.3 * r, y - 0.5 * r, 2.6 * r, r);
    case 6: return pen.box(x - 0.5 * r, y - 1.3 * r, r, 2.6 * r);
    case 7: return polygon([-1.1, -1.1], [1.1, 1.1], [1.1, -1.1], [-1.1, 1.1]);
    default: return pen.circle(x, y, i === 0 ? r : 0.7 * r);
  }
}
