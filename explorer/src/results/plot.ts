// Draws a chart of results: points with their Pareto front, curves with bands, or stacked bars.
// What it returns finds the row under the pointer, and the ranges of a rectangle drawn over it.

import type { Palette } from "../colour.ts";
import { type Pen, widthOf } from "../pen.ts";
import { shown } from "../words.ts";
import { Axis, limits, spread } from "./axis.ts";
import { HUES, hue, mark } from "./hues.ts";
import type { Field, Plan, Sheet } from "./sheet.ts";

export interface Plot {
  sheet: Sheet;
  rows: number[];
  plan: Plan;
  log: [boolean | null, boolean | null];
  /** The rows of the Pareto front, null where there is none to be drawn. */
  front: number[] | null;
  /** The chosen row, or -1. */
  row: number;
  palette: Palette;
}

export interface Drawn {
  /** The row at a point, or -1. */
  find(x: number, y: number): number;
  /** What a rectangle holds, by column. */
  within(x0: number, y0: number, x1: number, y1: number): Record<number, [number, number]>;
}

interface Series {
  name: string;
  rows: number[];
}

const SIZE = 11;
const REACH = 14;
/** More bars than these aren't drawn. */
export const MOST_BARS = 80;
export const BAR = 20;
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
/** Points that lie in one cell of so many pixels are drawn once. */
const CELL = 2;
/** A path of very many points is slow. */
const BATCH = 200;
const NOTHING: Drawn = { find: () => -1, within: () => ({}) };

/** Why there is nothing to draw, or "". */
export function lacking({ sheet, plan, rows }: Omit<Plot, "palette">): string {
  if (rows.length === 0) return "No row is shown.";
  if (plan.y.every((i) => sheet.fields[i] === undefined)) return "There is no column of numbers.";
  const x = sheet.fields[plan.x];
  return plan.kind !== "parts" && x === undefined ? "Choose a column for x." : "";
}

export function drawPlot(pen: Pen, plot: Plot, width: number, height: number): Drawn {
  if (lacking(plot) !== "") return NOTHING;
  if (plot.plan.kind === "parts") return drawParts(pen, plot, width, height);
  return plot.plan.kind === "points" ? drawPoints(pen, plot, width, height)
    : drawCurves(pen, plot, width, height);
}

const fieldsOf = ({ sheet }: Plot, indices: number[]) =>
  indices.flatMap((i) => sheet.fields[i] ?? []);

/** Rows that agree in all of `by`, named and in order of those names. */
function seriesOf(plot: Plot, by: Field[]): Series[] {
  const groups = new Map<string, Series>();
  for (const row of plot.rows) {
    const key = by.map(({ numbers }) => numbers[row]).join(" ");
    const group = groups.get(key);
    if (group !== undefined) group.rows.push(row);
    else groups.set(key, { name: by.map((field) => field.words(row)).join(", "), rows: [row] });
  }
  const first = ({ rows }: Series) => by.map(({ numbers }) => numbers[rows[0]]);
  return [...groups.values()].sort((a, b) => {
    const other = first(b);
    return first(a).map((x, i) => x - other[i]).find((d) => d !== 0) ?? 0;
  });
}

interface Entry {
  words: string;
  /** Draws the sign in a box of 16 by 10 around a point. */
  sign: (x: number, y: number) => void;
}

/** Draws the legend from the top, and returns where it ends. */
function drawLegend(pen: Pen, entries: Entry[], { text }: Palette, width: number): number {
  let [x, y] = [8, 16];
  for (const { words, sign } of entries) {
    const name = shown(words, 32);
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
  const bottom = height - 38;
  const top = above + 18;
  const down = make(1, y, bottom, top);
  const levels = down.ticks(Math.floor((bottom - top) / 42));
  const left = 16 + Math.max(...levels.map(([, words]) => widthOf(words, SIZE)), 20);
  const across = make(0, x, left, width - 16);
  const soft = { size: SIZE, colour: palette.soft };
  pen.begin();
  for (const [value] of levels) {
    pen.move(left, down.at(value));
    pen.line(width - 16, down.at(value));
  }
  const columns = across.ticks(Math.floor((width - left) / 90));
  for (const [value] of columns) {
    pen.move(across.at(value), top);
    pen.line(across.at(value), bottom + 4);
  }
  pen.stroke(palette.line, 1);
  for (const [value, words] of levels) {
    pen.words(words, left - 6, down.at(value) + 4, { ...soft, align: "end" });
  }
  for (const [value, words] of columns) {
    const half = widthOf(words, SIZE) / 2;
    const at = Math.min(across.at(value), width - 2 - half);
    pen.words(words, at, bottom + 17, { ...soft, align: "center" });
  }
  const plain = { size: SIZE, colour: palette.text };
  pen.words(axisTitle(y.slice(0, named), down.log), 8, above + 8, plain);
  pen.words(axisTitle(x, across.log), width - 16, height - 5, { ...plain, align: "end" });
  return [across, down];
}

/** Finds among spots, and turns rectangles into ranges. */
function finder(plot: Plot, across: Axis, down: Axis, spots: [Field, number[]][]): Drawn {
  const { numbers } = plot.sheet.fields[plot.plan.x];
  const round = (value: number) => Number(value.toPrecision(5));
  const tidy = (a: number, b: number): [number, number] =>
    [round(Math.min(a, b)), round(Math.max(a, b))];
  return {
    find(x, y) {
      let [nearest, found] = [REACH ** 2, -1];
      for (const [field, rows] of spots) {
        for (const row of rows) {
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

function drawPoints(pen: Pen, plot: Plot, width: number, height: number): Drawn {
  const { sheet, palette, front, rows } = plot;
  const [x, y] = [sheet.fields[plot.plan.x], sheet.fields[plot.plan.y[0]]];
  const by = sheet.fields[plot.plan.by[0]];
  // Hues go to the most frequent in the whole table, so that filters don't change them.
  const order = by === undefined ? [] : frequent(by);
  const named = order.slice(0, HUES);
  const place = new Map(named.map((rank, i) => [rank, i]));
  const kindOf = (row: number) =>
    by === undefined ? 0 : place.get(by.numbers[row]) ?? HUES;
  const groups: number[][] = Array.from({ length: HUES + 1 }, () => []);
  for (const row of rows) groups[kindOf(row)].push(row);
  const radius = rows.length > 2000 ? 2 : 4;
  const entries: Entry[] = by === undefined ? [] : groups.flatMap((those, i) =>
    those.length === 0 ? [] : [{
      words: i === HUES ? "others" : by.words(those[0]) || "nothing",
      sign: (at: number, level: number) => {
        pen.begin();
        mark(pen, i, at, level, 4);
        pen.fill(hue(palette, i));
      },
    }]);
  if (front !== null) {
    const sign = (at: number, level: number) => line(pen, palette.text, at, level);
    entries.push({ words: "Pareto front", sign });
  }
  const above = drawLegend(pen, entries, palette, width);
  const [across, down] = frame(pen, plot, [x], [y], 1, above, width, height);
  const at = (row: number): [number, number] =>
    [across.at(x.numbers[row]), down.at(y.numbers[row])];
  if (front !== null) drawFront(pen, front.map(at), palette);
  groups.map((those, i) => [those, i] as const).reverse().forEach(([those, i]) => {
    const taken = new Set<number>();
    let count = 0;
    pen.opacity(rows.length > 200 ? 0.7 : 0.9);
    pen.begin();
    for (const row of those) {
      const [px, py] = at(row);
      const cell = Math.round(px / CELL) * 65536 + Math.round(py / CELL);
      if (Number.isNaN(px + py) || taken.has(cell)) continue;
      taken.add(cell);
      mark(pen, i, px, py, radius);
      if (++count % BATCH === 0) {
        pen.fill(hue(palette, i));
        pen.begin();
      }
    }
    pen.fill(hue(palette, i));
  });
  pen.opacity(1);
  if (rows.includes(plot.row)) ring(pen, ...at(plot.row), palette);
  return finder(plot, across, down, [[y, rows]]);
}

/** The ranks of a column's texts, the most frequent first. */
function frequent({ numbers }: Field): number[] {
  const counts = new Map<number, number>();
  for (const rank of numbers) counts.set(rank, (counts.get(rank) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([rank]) => rank);
}

function line(pen: Pen, colour: string, x: number, y: number, dash: number[] = []) {
  pen.begin();
  pen.move(x - 8, y);
  pen.line(x + 8, y);
  pen.stroke(colour, 1.8, dash);
}

function ring(pen: Pen, x: number, y: number, { text }: Palette) {
  pen.begin();
  pen.circle(x, y, 7);
  pen.stroke(text, 2);
}

/** Steps along the edge of what is beaten: worse in x before better in y. */
function drawFront(pen: Pen, points: [number, number][], { text }: Palette) {
  pen.begin();
  points.forEach(([x, y], i) => {
    if (i === 0) pen.move(x, y);
    else {
      pen.line(x, points[i - 1][1]);
      pen.line(x, y);
    }
  });
  pen.stroke(text, 1.4);
}

function drawCurves(pen: Pen, plot: Plot, width: number, height: number): Drawn {
  const { sheet, plan, palette } = plot;
  const x = sheet.fields[plan.x];
  const ys = fieldsOf(plot, plan.y);
  const band = fieldsOf(plot, [plan.low, plan.high]);
  const by = fieldsOf(plot, plan.by);
  const series = seriesOf(plot, by);
  const entries: Entry[] = by.length === 0 ? [] : series.slice(0, HUES).map(({ name }, i) => ({
    words: name || "nothing",
    sign: (at, level) => {
      line(pen, hue(palette, i), at, level);
      pen.begin();
      mark(pen, i, at, level, 3);
      pen.fill(hue(palette, i));
    },
  }));
  if (series.length > HUES) {
    const words = `${series.length - HUES} others`;
    entries.push({ words, sign: (at, level) => line(pen, palette.soft, at, level) });
  }
  if (ys.length > 1) {
    ys.forEach(({ title }, k) => entries.push({
      words: title,
      sign: (at, level) => line(pen, palette.text, at, level, DASHES[k % DASHES.length]),
    }));
  }
  const above = drawLegend(pen, entries, palette, width);
  const fields = band.length === 2 ? [...ys, ...band] : ys;
  const [across, down] = frame(pen, plot, [x], fields, ys.length, above, width, height);
  // The first series are drawn last, above the others.
  [...series.keys()].reverse().forEach((i) => {
    const rows = series[i].rows.filter((row) => !Number.isNaN(x.numbers[row]))
      .sort((a, b) => x.numbers[a] - x.numbers[b] || a - b);
    const path = ({ numbers }: Field, those: number[], on = false) => {
      const known = those.filter((row) => !Number.isNaN(down.at(numbers[row])));
      known.forEach((row, k) =>
        pen[k === 0 && !on ? "move" : "line"](across.at(x.numbers[row]), down.at(numbers[row])));
      return known;
    };
    if (band.length === 2) {
      const both = rows.filter((row) => band.every(({ numbers }) => !Number.isNaN(numbers[row])));
      pen.begin();
      path(band[0], both);
      path(band[1], [...both].reverse(), true);
      pen.opacity(0.18);
      pen.fill(hue(palette, i));
      pen.opacity(1);
    }
    ys.forEach((y, k) => {
      pen.begin();
      const known = path(y, rows);
      pen.stroke(hue(palette, i), i < HUES ? 1.8 : 1, DASHES[k % DASHES.length]);
      if (known.length > 60) return;
      pen.begin();
      for (const row of known) {
        mark(pen, i, across.at(x.numbers[row]), down.at(y.numbers[row]), k === 0 ? 3 : 2);
      }
      pen.fill(hue(palette, i));
    });
  });
  if (plot.rows.includes(plot.row)) {
    const at = across.at(x.numbers[plot.row]);
    for (const { numbers } of ys) ring(pen, at, down.at(numbers[plot.row]), palette);
  }
  return finder(plot, across, down, ys.map((y) => [y, plot.rows]));
}

function drawParts(pen: Pen, plot: Plot, width: number, height: number): Drawn {
  const { plan, palette } = plot;
  const ys = fieldsOf(plot, plan.y);
  const by = fieldsOf(plot, plan.by);
  const rows = plot.rows.slice(0, MOST_BARS);
  const sum = (row: number) => ys.reduce((all, { numbers }) => all + (numbers[row] || 0), 0);
  const whole = ys.every(({ column }) => column.quantity === "part");
  const most = rows.reduce((largest, row) => Math.max(largest, sum(row)), whole ? 1 : 0) || 1;
  const above = drawLegend(pen, ys.map(({ title }, i) => ({
    words: title,
    sign: (x, y) => {
      pen.begin();
      pen.box(x - 6, y - 5, 12, 10, 2);
      pen.fill(hue(palette, i));
    },
  })), palette, width);
  const names = rows.map((row) => by.map((field) => field.words(row)).join(", "));
  const longest = names.reduce((n, name) => Math.max(n, name.length), 0);
  const left = Math.min(width * 0.4, 20 + widthOf("x".repeat(longest), SIZE));
  const bar = Math.min(BAR, (height - above - 26) / rows.length);
  const at = (value: number) => left + (value / most) * (width - 16 - left);
  const bottom = above + rows.length * bar + 2;
  const axis = new Axis([0, most], ys[0].column.quantity, false, left, 0);
  pen.begin();
  const ticks = axis.ticks(Math.floor((width - left) / 90)).filter(([value]) => value <= most);
  for (const [value] of ticks) {
    pen.move(at(value), above);
    pen.line(at(value), bottom);
  }
  pen.stroke(palette.line, 1);
  for (const [value, words] of ticks) {
    const x = Math.min(at(value), width - 2 - widthOf(words, SIZE) / 2);
    pen.words(words, x, bottom + 14, { size: SIZE, colour: palette.soft, align: "center" });
  }
  rows.forEach((row, k) => {
    const y = above + k * bar;
    const colour = row === plot.row ? palette.accent : palette.text;
    const name = shown(names[k], Math.floor((left - 12) / (0.58 * SIZE)));
    const style = { size: SIZE, colour, align: "end", bold: row === plot.row } as const;
    pen.words(name, left - 6, y + bar / 2 + 4, style);
    let from = 0;
    ys.forEach(({ numbers, column }, i) => {
      const value = numbers[row] || 0;
      if (!(value > 0)) return;
      const wide = at(from + value) - at(from);
      pen.begin();
      pen.box(at(from), y + 2, Math.max(0.5, wide - 0.5), bar - 4);
      pen.fill(hue(palette, i));
      const words = column.quantity === "part" ? `${Math.round(100 * value)} %` : "";
      if (words !== "" && wide > widthOf(words, 10) + 8 && bar > 14) {
        pen.words(words, at(from) + wide / 2, y + bar / 2 + 4, {
          size: 10, colour: palette.dark ? "#000" : "#fff", align: "center",
        });
      }
      from += value;
    });
  });
  return {
    find: (_, y) => rows[Math.floor((y - above) / bar)] ?? -1,
    within: () => ({}),
  };
}
