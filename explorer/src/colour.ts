// The page's colours: what the style sheet names, and two ramps that the colour-blind tell apart.
//
// Drawings read the same custom properties that the panels use, so light and dark stay in one
// place. Ramps are laid out so that much is far from the background.

const NAMES = [
  "back", "panel", "line", "text", "soft", "idle", "node", "nodeLine", "accent", "transfer",
  "reduce", "critical", "cut", "dead",
] as const;

export type Palette = Record<(typeof NAMES)[number], string> & { dark: boolean };

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const of = (name: string) =>
    style.getPropertyValue(`--${name.replace("L", "-l")}`).trim();
  return {
    ...Object.fromEntries(NAMES.map((name) => [name, of(name)])) as Record<typeof NAMES[number], string>,
    dark: of("dark") === "1",
  };
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
