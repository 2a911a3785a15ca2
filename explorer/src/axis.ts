// Axes of drawings: where values are along a line of pixels, straight or logarithmic, and what is
// written beside it.

import type { Palette } from "./colour.ts";
import type { Quantity } from "./format.ts";
import type { Pen } from "./pen.ts";
import type { Field } from "./results/sheet.ts";
import { brief, tick } from "./words.ts";

/** A linear axis begins at zero unless that would cost more than this share of it. */
const NEAR_ZERO = 0.4;
const WIDE = 100;
/** Above so many steps per power of ten they are ten, five or two times as long. */
const LONGER = [[50 ** 0.5, 10], [10 ** 0.5, 5], [2 ** 0.5, 2]];

export type Range = [from: number, to: number];

/** Values from `low` to `high` on the pixels `from` to `to`. */
export class Scale {
  constructor(
    readonly low: number, readonly high: number, readonly from: number, readonly to: number,
  ) {}

  at(value: number): number {
    return this.from + ((value - this.low) / (this.high - this.low)) * (this.to - this.from);
  }

  value(at: number): number {
    return this.low + ((at - this.from) / (this.to - this.from)) * (this.high - this.low);
  }

  /** About `most` round values, by powers of ten or of two. */
  round(most: number, base: 2 | 10 = 10): number[] {
    const { low, high } = this;
    const wanted = (high - low) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = base === 2 ? 2 ** Math.ceil(Math.log2(wanted))
      : power * (LONGER.find(([above]) => wanted / power >= above)?.[1] ?? 1);
    const values: number[] = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) values.push(k * step);
    return values;
  }
}

/** Whether numbers ask for a logarithmic axis: all above zero, and far apart. */
export const spread = (low: number, high: number, quantity: Quantity): boolean =>
  low > 0 && high / low > (quantity === "bytes" ? 8 : WIDE);

export function limits(rows: number[], fields: Field[]): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const { numbers } of fields) {
    for (const row of rows) {
      const value = numbers[row];
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : [0, 1];
}

/** The axis of a quantity, with some room around its values. */
export class Axis extends Scale {
  constructor(
    [low, high]: Range, readonly quantity: Quantity, readonly log: boolean, from: number,
    to: number,
  ) {
    const more = log ? (high / low) ** 0.03 * 1.01 : 1;
    const zero = low >= 0 && low <= NEAR_ZERO * high;
    const room = log ? 0 : (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
    super(!log && zero ? 0 : low / more - room, high * more + room, from, to);
  }

  override at(value: number): number {
    const { low, high, log, from, to } = this;
    return log ? from + (Math.log(value / low) / Math.log(high / low)) * (to - from)
      : super.at(value);
  }

  override value(at: number): number {
    const { low, high, log, from, to } = this;
    return log ? low * (high / low) ** ((at - from) / (to - from)) : super.value(at);
  }

  ticks(most: number): [number, string][] {
    return this.steps(Math.max(2, most)).map((value) => [value, brief(value, this.quantity)]);
  }

  private steps(most: number): number[] {
    const { low, high, log, quantity } = this;
    const base = quantity === "bytes" ? 2 : 10;
    const powers = log ? Math.log(high / low) / Math.log(base) : 0;
    if (powers < 2) return this.round(most, base);
    const stride = Math.ceil(powers / most);
    const first = Math.ceil(Math.log(low) / Math.log(base) / stride) * stride;
    const steps: number[] = [];
    const between = base === 10 && 3 * powers < most ? [1, 2, 5] : [1];
    for (let e = first - stride; base ** e <= high; e += stride) {
      steps.push(...between.map((times) => times * base ** e));
    }
    return steps.filter((step) => step >= low && step <= high);
  }
}

/** Lines from `top` to `bottom` at round times, whose words stand at `base`. */
export function drawTimes(
  pen: Pen, palette: Palette, time: Scale, top: number, bottom: number, base: number,
) {
  const times = time.round(Math.max(2, Math.floor((time.to - time.from) / 110)));
  const step = times.length > 1 ? times[1] - times[0] : time.high - time.low;
  pen.lines(times.map((t) => [time.at(t), top, time.at(t), bottom]));
  pen.stroke(palette.line, 1);
  for (const t of times) {
    if (time.at(t) > time.to - 18) continue;
    const align = time.at(t) < 20 ? "start" : "center";
    const style = { size: 10, colour: palette.soft, halo: palette.back, align } as const;
    pen.words(tick(t, step, time.high), time.at(t), base, style);
  }
}

/** A moment that matters: what it is, its colour, and how its line is dashed. */
export type Mark = [at: number, words: string, colour: string, dash: number[]];

/** Lines at those marks that are in sight, with a rim that sets them off from what is below. */
export function drawMarks(
  pen: Pen, { back }: Palette, time: Scale, marks: Mark[], top: number, bottom: number,
) {
  for (const [t, , colour, dash] of marks) {
    if (t < time.low || t > time.high) continue;
    pen.lines([[time.at(t), top, time.at(t), bottom]]);
    pen.glow(back, 4, 0.75);
    pen.stroke(colour, 1.5, dash);
  }
}
