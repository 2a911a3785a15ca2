// Numbers and names in words, the same everywhere on the page.

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
  const end = Math.floor((most - 1) / 2);
  return letters.length <= most ? letters.join("")
    : `${letters.slice(0, most - 1 - end).join("")}\u2026${letters.slice(-end || Infinity).join("")}`;
}
