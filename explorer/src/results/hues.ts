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

/** So many can be told apart: each colour comes twice, with another shape. */
export const HUES = 2 * LIGHT.length;

/** The colour of the i-th; grey after the last. */
export const hue = ({ dark, soft }: Palette, i: number) =>
  i < HUES ? (dark ? DARK : LIGHT)[i % LIGHT.length] : soft;

/** Corners of the shapes; the first is a circle. */
const SHAPES: [number, number][][] = [
  [],
  [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
  [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
  [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
  [[-1.3, -0.5], [1.3, -0.5], [1.3, 0.5], [-1.3, 0.5]],
  [[-0.5, -1.3], [0.5, -1.3], [0.5, 1.3], [-0.5, 1.3]],
  [[-1.1, -1.1], [1.1, 1.1], [1.1, -1.1], [-1.1, 1.1]],
];

/** A small shape around a point. */
export function mark(pen: Pen, i: number, x: number, y: number, r: number) {
  const corners = i < HUES ? SHAPES[(i + (i < SHAPES.length ? 0 : 3)) % SHAPES.length] : [];
  if (corners.length === 0) pen.circle(x, y, i < HUES ? r : 0.7 * r);
  [...corners, ...corners.slice(0, 1)].forEach(([dx, dy], k) =>
    pen[k === 0 ? "move" : "line"](x + r * dx, y + r * dy));
}
