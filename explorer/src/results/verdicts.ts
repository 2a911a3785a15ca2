// Which words say that something went well, nearly, or not: they get a sign and a colour.

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
