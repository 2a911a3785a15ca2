// Draws a chart of results: points with their Pareto front, curves with bands, or stacked bars.
// What it returns finds the row under the pointer, and the ranges of a rectangle drawn over it.

import { Axis, drawMarks, limits, type Mark, type Range, spread } from "../axis.ts";
import { hue, HUES, mark, type Palette } from "../colour.ts";
import { byKey } from "../groups.ts";
import { type Pen, widthOf } from "../pen.ts";
import { cut, shown } from "../words.ts";
import { type Field, isTelling, type Plan, type Sheet } from "./sheet.ts";

export interface Plot {
  sheet: Sheet; rows: number[]; plan: Plan; log: [boolean | null, boolean | null];
  /** The rows of the Pareto front, null where there is none to be drawn. */
  front: number[] | null;
  /** The chosen row, or -1. */
  row: number;
  /** Moments that are marked on x. */
  marks?: () => Mark[];
  palette: Palette;
}

export interface Drawn {
  /** The row at a point, or -1. */
  find(x: number, y: number): number;
  /** What a rectangle holds, by column. */
  within(x0: number, y0: number, x1: number, y1: number): Record<number, Range>;
}

const SIZE = 11;
const REACH = 14;
/** More bars than these aren't drawn. */
export const MOST_BARS = 80;
export const BAR = 22;
const LEAST_BAR = 12;
const LONGEST = 40;
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
/** Points that lie in one cell of so many pixels are drawn once. */
const CELL = 2;
/** A path of very many points is slow. */
const BATCH = 200;
/** Curves of more points have no marks; of more points than many, small ones. */
const MOST_MARKED = 60;
const MANY = 2000;
const NOTHING: Drawn = { find: () => -1, within: () => ({}) };

/** Why there is nothing to draw, or "". */
export function lacking({ sheet, plan, rows }: Omit<Plot, "palette">): string {
  if (rows.length === 0) return "No row is shown.";
  if (plan.y.every((i) => sheet.fields[i] === undefined)) return "There is no column of numbers.";
  const x = sheet.fields[plan.x];
  return plan.kind !== "parts" && x === undefined ? "Choose a column for x." : "";
}

/** The plan as it can be drawn: where x hasn't two values, as bars. */
export function drawable({ sheet, plan, rows }: Omit<Plot, "palette">): Plan {
  const x = sheet.fields[plan.x];
  if (plan.kind === "parts" || plan.kind === "none" || x === undefined) return plan;
  const known = rows.map((row) => x.numbers[row]).filter((value) => !Number.isNaN(value));
  return known.some((value) => value !== known[0]) ? plan
    : { ...plan, kind: "parts", y: plan.y.slice(0, 1) };
}

export function drawPlot(pen: Pen, plot: Plot, width: number, height: number): Drawn {
  if (lacking(plot) !== "") return NOTHING;
  const plan = drawable(plot);
  return (plan.kind === "parts" ? drawParts : drawSeries)(pen, { ...plot, plan }, width, height);
}

const fieldsOf = ({ sheet }: Plot, indices: number[]) =>
  indices.flatMap((i) => sheet.fields[i] ?? []);

interface Entry {
  words: string;
  /** Draws the sign in a box of 16 by 10 around a point. */
  sign: (x: number, y: number) => void;
}

/** Draws the legend from the top, and returns where it ends. */
function drawLegend(pen: Pen, entries: Entry[], { text }: Palette, width: number): number {
  let [x, y] = [8, 16];
  for (const { words, sign } of entries) {
    const name = cut(words, LONGEST);
    const wide = 34 + widthOf(name, SIZE);
    if (x > 8 && x + wide > width) [x, y] = [8, y + 17];
    sign(x + 8, y - 4);
    pen.words(name, x + 20, y, { size: SIZE, colour: text });
    x += wide;
  }
  return entries.length === 0 ? 8 : y + 12;
}

const axisTitle = (fields: Field[], log: boolean) =>
  `${shown(fields.map(({ title }) => title).join(", "), 60)}${log ? ", logarithmic" : ""}`;

/** Words below an axis, none of which leaves the drawing. */
function drawBelow(
  pen: Pen, ticks: [number, string][], at: (value: number) => number, y: number, width: number,
  colour: string,
) {
  for (const [value, words] of ticks) {
    const x = Math.min(at(value), width - 2 - widthOf(words, SIZE) / 2);
    pen.words(words, x, y, { size: SIZE, colour, align: "center" });
  }
}

/** Draws the axes; y is named by the first `named` of its columns. */
function frame(
  pen: Pen, plot: Plot, x: Field[], y: Field[], named: number, above: number, width: number,
  height: number,
): [Axis, Axis] {
  const { palette, rows, log } = plot;
  const make = (i: 0 | 1, fields: Field[], from: number, to: number) => {
    const [low, high] = limits(rows, fields);
    const { quantity } = fields[0].column;
    const wanted = (log[i] ?? spread(low, high, quantity)) && low > 0;
    return new Axis([low, high], quantity, wanted, from, to);
  };
  const [top, bottom, right] = [above + 18, height - 38, width - 16];
  const down = make(1, y, bottom, top);
  const levels = down.ticks(Math.floor((bottom - top) / 42));
  const left = 16 + Math.max(...levels.map(([, words]) => widthOf(words, SIZE)), 20);
  const across = make(0, x, left, right);
  const columns = across.ticks(Math.floor((width - left) / 75));
  pen.lines([
    ...levels.map(([value]) => [left, down.at(value), right, down.at(value)] as const),
    ...columns.map(([value]) => [across.at(value), top, across.at(value), bottom + 4] as const),
  ]);
  pen.stroke(palette.line, 1);
  for (const [value, words] of levels) {
    const style = { size: SIZE, colour: palette.soft, align: "end" } as const;
    pen.words(words, left - 6, down.at(value) + 4, style);
  }
  drawBelow(pen, columns, (value) => across.at(value), bottom + 17, width, palette.soft);
  const plain = { size: SIZE, colour: palette.text };
  pen.words(axisTitle(y.slice(0, named), down.log), 8, above + 8, plain);
  pen.words(axisTitle(x, across.log), right, height - 5, { ...plain, align: "end" });
  return [across, down];
}

/** Finds among spots, and turns rectangles into ranges. */
function finder(plot: Plot, across: Axis, down: Axis, ys: Field[]): Drawn {
  const { numbers } = plot.sheet.fields[plot.plan.x];
  const round = (value: number) => Number(value.toPrecision(5));
  const tidy = (a: number, b: number): Range => [round(Math.min(a, b)), round(Math.max(a, b))];
  return {
    find(x, y) {
      let [nearest, found] = [REACH ** 2, -1];
      for (const field of ys) {
        for (const row of plot.rows) {
          const d = (across.at(numbers[row]) - x) ** 2 + (down.at(field.numbers[row]) - y) ** 2;
          if (d < nearest) [nearest, found] = [d, row];
        }
      }
      return found;
    },
    within(x0, y0, x1, y1) {
      const ranges = { [plot.plan.x]: tidy(across.value(x0), across.value(x1)) };
      if (plot.plan.kind === "points") {
        ranges[plot.plan.y[0]] = tidy(down.value(y0), down.value(y1));
      }
      return ranges;
    },
  };
}

/** Points, or curves through them. */
function drawSeries(pen: Pen, plot: Plot, width: number, height: number): Drawn {
  const { sheet, plan, palette, rows } = plot;
  const joined = plan.kind === "curves";
  const front = joined ? null : plot.front;
  const x = sheet.fields[plan.x];
  const ys = fieldsOf(plot, joined ? plan.y : plan.y.slice(0, 1));
  const band = joined ? fieldsOf(plot, [plan.low, plan.high]) : [];
  const by = fieldsOf(plot, plan.by).filter(isTelling).slice(0, joined ? plan.by.length : 1);
  const { names, of } = sheet.series(by);
  // What has no hue of its own is drawn as one, but for its curves.
  const groups = byKey(rows, (row) => (joined ? of[row] : Math.min(HUES, of[row])));
  const order = [...groups.keys()].sort((a, b) => a - b);
  // Where columns are all that differs, they have the hues.
  const colour = (i: number, k: number) => hue(palette, by.length > 0 ? i : k);
  const line = (at: number, level: number, colour: string, dash?: number[]) => {
    pen.lines([[at - 8, level, at + 8, level]]);
    pen.stroke(colour, 1.6, dash);
  };
  const entries: Entry[] = by.length === 0 ? [] : order.filter((i) => i < HUES).map((i) => ({
    words: names[i] || "nothing",
    sign: (at, level) => {
      if (joined) line(at, level, hue(palette, i));
      pen.begin();
      mark(pen, i, at, level, joined ? 3 : 4);
      pen.fill(hue(palette, i));
    },
  }));
  const plain = (words: string, colour: string, dash?: number[]) =>
    entries.push({ words, sign: (at, level) => line(at, level, colour, dash) });
  if (order.some((i) => i >= HUES)) plain("others", palette.soft);
  if (ys.length > 1) {
    ys.forEach(({ title }, k) =>
      plain(title, by.length > 0 ? palette.text : colour(0, k), dashOf(k)));
  }
  if (front !== null) plain("Pareto front", palette.text);
  const above = drawLegend(pen, entries, palette, width);
  const [across, down] = frame(pen, plot, [x], [...ys, ...band], ys.length, above, width, height);
  const at = (row: number, y: Field): [number, number] =>
    [across.at(x.numbers[row]), down.at(y.numbers[row])];
  // Where nothing is known, nothing is drawn.
  const known = (those: number[], y: Field) =>
    those.filter((row) => !Number.isNaN(x.numbers[row] + y.numbers[row]));
  const path = (those: number[], y: Field, on = false) =>
    those.forEach((row, k) => pen[k === 0 && !on ? "move" : "line"](...at(row, y)));
  if (front !== null) drawFront(pen, front.map((row) => at(row, ys[0])), palette);
  // The first are drawn last, above the others.
  for (const i of order.reverse()) {
    const those = groups.get(i) as number[];
    if (joined) those.sort((a, b) => x.numbers[a] - x.numbers[b] || a - b);
    if (band.length === 2) {
      const both = known(known(those, band[0]), band[1]);
      pen.begin();
      path(both, band[0]);
      path([...both].reverse(), band[1], true);
      pen.shade(colour(i, ys.length - 1), 0.18);
    }
    ys.forEach((y, k) => {
      const there = known(those, y);
      if (joined) {
        pen.begin();
        path(there, y);
        pen.stroke(colour(i, k), i < HUES ? 1.8 : 1, dashOf(k));
      }
      if (joined && there.length > MOST_MARKED) return;
      pen.opacity(joined ? 1 : 0.8);
      const radius = joined ? 3 - Math.min(k, 1) : rows.length > MANY ? 2 : 4;
      drawSpots(pen, there.map((row) => at(row, y)), i, radius, colour(i, k));
      pen.opacity(1);
    });
  }
  if (rows.includes(plot.row)) {
    pen.begin();
    for (const y of ys) for (const row of known([plot.row], y)) pen.circle(...at(row, y), 7);
    pen.stroke(palette.text, 2);
  }
  const marks = plot.marks?.() ?? [];
  drawMarks(pen, palette, across, marks, down.to, down.from);
  marks.forEach(([t, words, colour], i) => {
    const style = { size: 10, colour, halo: palette.back, align: "end" } as const;
    pen.words(words, across.at(t) - 4, down.to + (0.5 + 0.2 * i) * (down.from - down.to), style);
  });
  return finder(plot, across, down, ys);
}

const dashOf = (k: number) => DASHES[k % DASHES.length];

function drawSpots(
  pen: Pen, points: [number, number][], i: number, radius: number, colour: string,
) {
  const taken = new Set<number>();
  pen.begin();
  for (const [x, y] of points) {
    const cell = Math.round(x / CELL) * 65536 + Math.round(y / CELL);
    if (taken.has(cell)) continue;
    taken.add(cell);
    mark(pen, i, x, y, radius);
    if (taken.size % BATCH !== 0) continue;
    pen.fill(colour);
    pen.begin();
  }
  pen.fill(colour);
}

/** Steps along the edge of what is beaten: worse in x before better in y. */
function drawFront(pen: Pen, points: [number, number][], { text }: Palette) {
  pen.begin();
  points.forEach(([x, y], i) => {
    if (i === 0) pen.move(x, y);
    else pen.line(x, points[i - 1][1]);
    pen.line(x, y);
  });
  pen.stroke(text, 1.4);
}

/** Colours that come a second time are paler. */
const shadeOf = (i: number) => (i < HUES / 2 ? 1 : 0.5);

function drawParts(pen: Pen, plot: Plot, width: number, height: number): Drawn {
  const { plan, palette } = plot;
  const ys = fieldsOf(plot, plan.y);
  const { quantity } = ys[0].column;
  const rows = plot.rows.slice(0, MOST_BARS);
  const sum = (row: number) => ys.reduce((all, { numbers }) => all + (numbers[row] || 0), 0);
  const whole = ys.every(({ column }) => column.quantity === "part");
  const most = rows.reduce((largest, row) => Math.max(largest, sum(row)), whole ? 1 : 0) || 1;
  const above = drawLegend(pen, ys.map(({ title }, i) => ({
    words: title,
    sign: (x, y) => pen.block(x - 6, y - 5, 12, 10, hue(palette, i), shadeOf(i)),
  })), palette, width);
  const names = plot.sheet.names(fieldsOf(plot, plan.by));
  const longest = rows.reduce((n, row) => Math.max(n, names(row).length), 0);
  const left = Math.min(width * 0.4, 20 + widthOf("x".repeat(longest), SIZE));
  const bar = Math.max(LEAST_BAR, Math.min(BAR, (height - above - 36) / rows.length));
  const at = (value: number) => left + (value / most) * (width - 16 - left);
  const bottom = above + rows.length * bar + 2;
  const axis = new Axis([0, most], quantity, false, left, 0);
  const ticks = axis.ticks(Math.floor((width - left) / 90)).filter(([value]) => value <= most);
  pen.lines(ticks.map(([value]) => [at(value), above, at(value), bottom]));
  pen.stroke(palette.line, 1);
  drawBelow(pen, ticks, at, bottom + 14, width, palette.soft);
  if (quantity !== "part" && quantity !== "ratio") {
    const style = { size: SIZE, colour: palette.text, align: "end" } as const;
    pen.words(axisTitle(ys, false), width - 16, bottom + 29, style);
  }
  rows.forEach((row, k) => {
    const y = above + k * bar;
    const colour = row === plot.row ? palette.accent : palette.text;
    const name = cut(names(row), Math.floor((left - 12) / (0.58 * SIZE)));
    const style = { size: SIZE, colour, align: "end", bold: row === plot.row } as const;
    pen.words(name, left - 6, y + bar / 2 + 4, style);
    let from = 0;
    ys.forEach(({ numbers, column }, i) => {
      const value = numbers[row] || 0;
      if (!(value > 0)) return;
      const wide = at(from + value) - at(from);
      pen.block(at(from), y + 2, Math.max(0.5, wide - 0.5), bar - 4, hue(palette, i), shadeOf(i));
      const words = column.quantity === "part" ? `${Math.round(100 * value)} %` : "";
      if (words !== "" && wide > widthOf(words, 10) + 8 && bar > 14) {
        const colour = palette.dark ? "#000" : "#fff";
        pen.words(words, at(from) + wide / 2, y + bar / 2 + 4,
          { size: 10, colour, align: "center" });
      }
      from += value;
    });
  });
  return { ...NOTHING, find: (_, y) => rows[Math.floor((y - above) / bar)] ?? -1 };
}
