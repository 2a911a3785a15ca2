// Which words say that something went well, nearly, or not: they get a sign and a colour.

const SIGNS = { good: "\u2713", middle: "\u25d0", bad: "\u2717" };

const WORDS: Record<keyof typeof SIGNS, string> = {
  good: "matches within optimal feasible done ok yes holds passed",
  middle: "explained infeasible unsupported skipped timed_out out_of_memory unknown partial",
  bad: "differs failed crashed error wrong invalid outside no missing",
};

export type Tone = keyof typeof SIGNS;

/** How a column's texts are judged, "" where its name doesn't say that they judge. */
export function toneOf(column: string, text: string): Tone | "" {
  if (!/(^|_)(verdict|status)$/.test(column)) return "";
  if (/, explained/.test(text)) return "middle";
  const word = text.toLowerCase().split(/[\s,:(]/, 1)[0];
  return (Object.keys(WORDS) as Tone[]).find((tone) => WORDS[tone].split(" ").includes(word)) ?? "";
}

export const signOf = (tone: Tone | "") => (tone === "" ? "" : `${SIGNS[tone]} `);
