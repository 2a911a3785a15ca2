// Values of results as they are written, by what they count, and short as an axis wants them; and
// which words say that something went well, nearly, or not.

import type { Quantity } from "../format.ts";
import { bytes, rate, shown, time, whole } from "../words.ts";

const VERDICTS: Record<string, Tone> = {
  match: "good", "direction holds": "middle", "left open": "middle", "not judged": "middle",
  differs: "off", unexpected: "bad",
};
const STATUSES: Record<string, Tone> = {
  optimal: "good", feasible: "good", done: "good", infeasible: "middle", unsupported: "middle",
  timed_out: "middle", out_of_memory: "middle", pending: "middle", running: "middle",
  refused: "middle", unknown: "middle",
  failed: "bad", crashed: "bad", defect: "bad", invalid: "bad",
};
const SIGNS = { good: "\u2713", middle: "\u25d0", off: "\u2260", bad: "\u2717" };

export type Tone = keyof typeof SIGNS;

/** How a column's text is judged, "" where its name doesn't say that it judges. */
export function toneOf(column: string, text: string): Tone | "" {
  const words = { verdict: VERDICTS, status: STATUSES }[column];
  return words !== undefined && Object.hasOwn(words, text) ? words[text] : "";
}

export const signOf = (tone: Tone | "") => (tone === "" ? "" : `${SIGNS[tone]} `);

export type Value = string | number | boolean | null;

const TEXTS = new Set<Quantity>(["text", "texts", "truth"]);
const AMOUNTS: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"]];

export const isNumeric = (quantity: Quantity) => !TEXTS.has(quantity);

const digits = (x: number, most: number) => String(Number(x.toPrecision(most)));

function amount(x: number): string {
  const unit = AMOUNTS.find(([size]) => Math.abs(x) >= size);
  return unit === undefined ? digits(x, 6) : `${digits(x / unit[0], 4)} ${unit[1]}`;
}

export function written(value: Value, quantity: Quantity, most = 200): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return shown(value, most);
  switch (quantity) {
    case "bytes": return bytes(value);
    case "time": return time(value);
    case "rate": return rate(value);
    case "ratio": return value.toFixed(3);
    case "part": return `${(100 * value).toFixed(1)} %`;
    case "amount": return amount(value);
    case "seconds":
    case "effort": return `${Math.abs(value) >= 1000 ? whole(value) : digits(value, 3)} s`;
    case "fact": return digits(value, 10);
    case "count": return Number.isInteger(value) ? whole(value) : digits(value, 6);
    default: return digits(value, 6);
  }
}

/** The same without digits that only a table needs. */
export function brief(value: number, quantity: Quantity): string {
  if (quantity === "part") return `${digits(100 * value, 4)} %`;
  if (quantity === "ratio") return digits(value, 4);
  return quantity === "count" && Math.abs(value) >= 1e6 ? amount(value) : written(value, quantity);
}

/** What a value is sorted and drawn by; "3/2" and "auto: 8" are read as numbers. */
export function numberOf(value: Value): number {
  if (typeof value === "number") return value;
  const parts = /(-?[\d.]+)(?:\/([\d.]+))?\s*$/.exec(typeof value === "string" ? value : "");
  return parts === null ? NaN : Number(parts[1]) / Number(parts[2] ?? 1);
}
