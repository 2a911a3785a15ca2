// The page's colours: what the style sheet names, and two ramps that the colour-blind tell apart.
//
// Drawings read the same custom properties that the panels use, so light and dark stay in one
// place. Ramps are laid out so that much is far from the background. Things that have names have
// hues and shapes: told apart by the colour-blind, and without colour, too.

import type { Pen } from "./pen.ts";

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

const NAMES = [
  "back", "panel", "line", "text", "soft", "idle", "node", "nodeLine", "accent", "transfer",
  "reduce", "critical", "cut", "dead",
] as const;

export type Palette = Record<(typeof NAMES)[number], string> & { dark: boolean };

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const of = (name: string) =>
    style.getPropertyValue(`--${name.replace("L", "-l")}`).trim();
  const colours = Object.fromEntries(NAMES.map((name) => [name, of(name)]));
  return { ...colours as Omit<Palette, "dark">, dark: of("dark") === "1" };
}

/** Steps of a ramp: links are drawn step by step, each in one colour and width. */
export const STEPS = 16;

const VIRIDIS = [
  "#440154", "#48186a", "#472d7b", "#424086", "#3b528b", "#33638d", "#2c728e", "#26828e",
  "#21918c", "#1fa088", "#28ae80", "#3fbc73", "#5ec962", "#84d44b", "#addc30", "#d8e219",
  "#fde725",
];

const DIVERGING: Record<"light" | "dark", string[]> = {
  light: [
    "#0b4f9e", "#1c64ae", "#3079bd", "#4a8fc9", "#6ba5d3", "#8fbadc", "#b0cde3", "#c9d6df",
    "#ded6cc", "#ebcca6", "#eeb87c", "#eaa154", "#e18834", "#d06f1c", "#b9590d", "#9c4704",
  ],
  dark: [
    "#9ccbff", "#84bcfb", "#6eacf0", "#5b9be0", "#4c8acb", "#4379b2", "#3d6894", "#3b5672",
    "#5e503c", "#7b5f39", "#996e36", "#b57e34", "#cf8f38", "#e6a144", "#f6b55b", "#ffcb82",
  ],
};

/** Colours from little to much. */
export const ramp = (dark: boolean): string[] =>
  dark ? VIRIDIS.slice(17 - STEPS) : VIRIDIS.slice(0, STEPS).reverse();

/** Colours from less (blue) through even to more (orange). */
export const diverging = (dark: boolean): string[] => DIVERGING[dark ? "dark" : "light"];
