// Numbers and names in words, the same everywhere on the page.

import type { Quantity } from "./format.ts";

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
    case "seconds": return time(1e12 * value);
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

const TIMES: [number, string][] = [[1e12, "s"], [1e9, "ms"], [1e6, "us"], [1e3, "ns"], [1, "ps"]];
const SIZES: [number, string][] = [
  [2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"],
];
const DECIMALS: [number, string][] = [
  [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"],
];
const RATES: [number, string][] = [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1, "B/s"]];

// Made once: making a format costs far more than using it.
const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

function scaled(value: number, units: [number, string][]): string {
  const last = units[units.length - 1];
  const [size, unit] = units.find(([size]) => Math.abs(value) >= size) ?? last;
  const x = value / size;
  const before = Math.max(1, Math.floor(Math.log10(Math.abs(x) || 1)) + 1);
  const digits = size === 1 ? 0 : Math.max(0, 4 - before);
  const text = x.toFixed(digits);
  return `${digits > 0 ? text.replace(/\.?0+$/, "") : text} ${unit}`;
}

export const time = (ps: number) => scaled(ps, TIMES);
export const size = (bytes: number) => scaled(bytes, SIZES);
export const rate = (bytesPerSecond: number) => scaled(bytesPerSecond, RATES);
export const share = (x: number) => `${(100 * x).toFixed(1)}%`;
export const whole = (n: number) => WHOLE.format(n);

/** Bytes in binary units where these come out whole, else in decimal ones. */
export function bytes(n: number): string {
  const [size, unit] = SIZES.find(([size]) => n % size === 0) ?? [1, ""];
  return size > 1 && n !== 0 && n / size < 10_000 ? `${n / size} ${unit}` : scaled(n, DECIMALS);
}

/** A time with as many digits as a step of `step` needs, as on an axis. */
export function tick(ps: number, step: number, largest: number): string {
  if (ps === 0) return "0";
  const [size, unit] = TIMES.find(([size]) => largest >= size) ?? TIMES[TIMES.length - 1];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return `${(ps / size).toFixed(Math.min(6, digits))} ${unit}`;
}

/** A name fit to be drawn: no control or direction marks, cut after `most` letters. */
export function shown(name: string, most: number): string {
  const clean = name.slice(0, 4 * most + 64)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "");
  const letters = Array.from(clean);
  return letters.length <= most ? clean : `${letters.slice(0, most - 1).join("")}\u2026`;
}

/** The same with its middle cut out: names differ at their ends. */
export function cut(name: string, most: number): string {
  const letters = Array.from(shown(name, 2000));
  const kept = Math.max(0, most - 1);
  if (letters.length > most) letters.splice(Math.ceil(kept / 2), letters.length - kept, "\u2026");
  return letters.join("");
}
