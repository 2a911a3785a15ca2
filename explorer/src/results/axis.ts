// An axis of a chart: where values are along it, straight or logarithmic, and what it says.

import { scaleLinear } from "d3-scale";
import type { Quantity } from "../format.ts";
import type { Field } from "./sheet.ts";
import { brief } from "./written.ts";

/** A linear axis begins at zero unless that would cost more than this share of it. */
const NEAR_ZERO = 0.4;
const WIDE = 100;

/** Whether numbers ask for a logarithmic axis: all above zero, and far apart. */
export function spread(low: number, high: number, quantity: Quantity): boolean {
  return low > 0 && high / low > (quantity === "bytes" ? 8 : WIDE);
}

export function limits(rows: number[], fields: Field[]): [number, number] {
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

export class Axis {
  readonly low: number;
  readonly high: number;

  /** From pixel `from`, where `low` is, to pixel `to`. */
  constructor(
    [low, high]: [number, number], readonly quantity: Quantity, readonly log: boolean,
    readonly from: number, readonly to: number,
  ) {
    if (log) {
      const more = (high / low) ** 0.03 * 1.01;
      [this.low, this.high] = [low / more, high * more];
    } else {
      const room = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
      const zero = low >= 0 && low <= NEAR_ZERO * high;
      [this.low, this.high] = [zero ? 0 : low - room, high + room];
    }
  }

  at(value: number): number {
    const { low, high, log } = this;
    const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return this.from + share * (this.to - this.from);
  }

  value(at: number): number {
    const share = (at - this.from) / (this.to - this.from);
    const { low, high, log } = this;
    return log ? low * (high / low) ** share : low + share * (high - low);
  }

  ticks(most: number): [number, string][] {
    return this.steps(Math.max(2, most)).map((value) => [value, brief(value, this.quantity)]);
  }

  private steps(most: number): number[] {
    const { low, high, log, quantity } = this;
    const base = quantity === "bytes" ? 2 : 10;
    if (log) {
      const powers = Math.log(high / low) / Math.log(base);
      if (powers >= 2) {
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
    if (quantity !== "bytes") return scaleLinear().domain([low, high]).ticks(most);
    const step = 2 ** Math.ceil(Math.log2((high - low) / most));
    const steps: number[] = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) steps.push(k * step);
    return steps;
  }
}
