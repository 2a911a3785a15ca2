// What of the results is seen: the table, its order, filters and chart. Columns and values are
// told by their numbers, so that the address stays short whatever they are called.

import type { Range } from "../axis.ts";
import { type Fields, fieldsOf, Fragment, indexOf } from "../codec.ts";
import type { Findings } from "./read.ts";
import type { Plan, Sheet } from "./sheet.ts";

export interface Choices {
  /** -1 is the timelines. */
  table: number;
  sort: [field: number, falling: boolean] | null; find: string;
  /** Per column the numbers of the texts that are let through. */
  only: Record<number, number[]>;
  within: Record<number, Range>;
  /** Whether only what is on the Pareto front is let through. */
  front: boolean;
  /** null: as the table wants it. */
  plan: Plan | null;
  /** Whether the axes are logarithmic; null: as the values want it. */
  log: [boolean | null, boolean | null];
  /** The chosen row, or -1. */
  row: number;
  strip: number;
  /** The timeline beneath it, or -1. */
  beside: number;
  span: Range | null;
}

export const AS_IS: Choices = {
  table: 0, sort: null, find: "", only: {}, within: {}, front: false, plan: null,
  log: [null, null], row: -1, strip: 0, beside: -1, span: null,
};

const MOST_LETTERS = 200;
const KINDS = ["none", "points", "curves", "parts"] as const;

export function choiceFields(choices: Choices): Fields {
  const filters = (key: string, those: Record<number, number[]>): Fields =>
    Object.entries(those).map(([field, numbers]) => [key, [field, ...numbers].join("_")]);
  return [
    ...fieldsOf(choices, AS_IS, {
      table: String, sort: ([field, falling]) => `${field}_${Number(falling)}`, find: String,
      front: () => "1", row: String, strip: String, beside: String,
      span: (span) => span.map(Math.round).join("_"),
      log: (log) => log.map((on) => (on === null ? "-" : Number(on))).join("_"),
    }),
    ...filters("only", choices.only), ...filters("in", choices.within),
    ...fieldsOf<{ chart: Plan | null }>({ chart: choices.plan }, { chart: null }, {
      chart: ({ kind, x, y, by, low, high }) =>
        [kind, x, y.join("."), by.join("."), low, high].join("_"),
    }),
  ];
}

/** What a fragment chooses; what makes no sense is as it was. */
export function readChoices(text: string, { sheets, strips }: Findings): Choices {
  const fragment = new Fragment(text);
  const choices: Choices = {
    ...AS_IS, only: {}, within: {}, span: fragment.range("span"),
    strip: fragment.index("strip", strips.length, 0),
    beside: fragment.index("beside", strips.length, -1),
  };
  const timelines = strips.length > 0 && (sheets.length === 0 || fragment.text("table") === "-1");
  choices.table = timelines ? -1 : fragment.index("table", sheets.length, 0);
  const sheet = sheets[choices.table];
  if (sheet === undefined) return choices;
  const field = (text: string) => indexOf(text, sheet.fields.length) ?? -1;
  const [sort, falling] = fragment.parts("sort");
  if (field(sort) >= 0) choices.sort = [field(sort), falling === "1"];
  choices.find = fragment.text("find").slice(0, MOST_LETTERS);
  for (const [of, ...ranks] of fragment.all("only")) {
    const { length } = sheet.fields[field(of)]?.choices ?? [];
    const chosen = ranks.flatMap((rank) => indexOf(rank, length) ?? []);
    if (chosen.length > 0) choices.only[field(of)] = chosen;
  }
  for (const [of, ...range] of fragment.all("in")) {
    const [low, high] = range.map(Number);
    if (sheet.fields[field(of)]?.numeric && low <= high) choices.within[field(of)] = [low, high];
  }
  choices.front = fragment.on("front", false);
  choices.plan = readPlan(fragment, sheet, field);
  const log = fragment.parts("log").map((on) => ({ 1: true, 0: false })[on] ?? null);
  if (log.some((on) => on !== null)) choices.log = [log[0], log[1] ?? null];
  choices.row = fragment.index("row", sheet.rows, -1);
  return choices;
}

function readPlan(fragment: Fragment, sheet: Sheet, field: (text: string) => number): Plan | null {
  const [wanted, x, y, by, low, high] = fragment.parts("chart");
  const kind = KINDS.find((kind) => kind === wanted);
  if (kind === undefined || high === undefined) return null;
  const those = (list: string) => list.split(".").map(field).filter((i) => i >= 0);
  const plan: Plan = {
    kind, x: field(x), y: those(y), by: those(by), low: field(low), high: field(high),
  };
  return kind === "none" ? plan : sheet.planned(plan, kind);
}
