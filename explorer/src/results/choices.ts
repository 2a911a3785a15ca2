// What of the results is seen: the table, its order, filters and chart. Columns and values are
// told by their numbers, so that the address stays short whatever they are called.

import type { Findings } from "./read.ts";
import type { Plan, Sheet } from "./sheet.ts";

export interface Choices {
  /** -1 is the timelines. */
  table: number;
  sort: [field: number, falling: boolean] | null;
  find: string;
  /** Per column the numbers of the texts that are let through. */
  only: Record<number, number[]>;
  within: Record<number, [number, number]>;
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
  span: [number, number] | null;
}

export const AS_IS: Choices = {
  table: 0, sort: null, find: "", only: {}, within: {}, front: false, plan: null,
  log: [null, null], row: -1, strip: 0, beside: -1, span: null,
};

const MOST_LETTERS = 200;
const LOGS = ["0", "1", "-"];

export function choiceFields(choices: Choices): [string, string][] {
  const fields: [string, string][] = [];
  const put = (key: string, on: boolean, ...parts: (string | number)[]) => {
    if (on) fields.push([key, parts.join("_")]);
  };
  const { table, sort, find, plan, log, row, strip, beside, span } = choices;
  put("table", table !== 0, table);
  put("sort", sort !== null, sort?.[0] ?? 0, Number(sort?.[1]));
  put("find", find !== "", find);
  for (const [field, ranks] of Object.entries(choices.only)) put("only", true, field, ...ranks);
  for (const [field, range] of Object.entries(choices.within)) put("in", true, field, ...range);
  put("front", choices.front, 1);
  if (plan !== null) {
    put("chart", true, plan.kind, plan.x, plan.y.join("."), plan.by.join("."), plan.low, plan.high);
  }
  put("log", log.some((on) => on !== null), ...log.map((on) => (on === null ? "-" : Number(on))));
  put("row", row >= 0, row);
  put("strip", strip > 0, strip);
  put("beside", beside >= 0, beside);
  put("span", span !== null, ...(span ?? []).map(Math.round));
  return fields;
}

/** What a fragment chooses; what makes no sense is as it was. */
export function readChoices(text: string, { sheets, strips }: Findings): Choices {
  const fields = new URLSearchParams(text.replace(/^#/, ""));
  const parts = (value: string | null) => (value ?? "").split("_");
  const index = (value: string | null, limit: number, otherwise: number) =>
    /^\d{1,9}$/.test(value ?? "") && Number(value) < limit ? Number(value) : otherwise;
  const choices: Choices = { ...AS_IS, only: {}, within: {} };
  choices.strip = index(fields.get("strip"), strips.length, 0);
  choices.beside = index(fields.get("beside"), strips.length, -1);
  const [from, to] = parts(fields.get("span")).map(Number);
  if (from >= 0 && to > from && Number.isFinite(to)) choices.span = [from, to];
  const timelines = strips.length > 0 && (sheets.length === 0 || fields.get("table") === "-1");
  choices.table = timelines ? -1 : index(fields.get("table"), sheets.length, 0);
  const sheet = sheets[choices.table];
  if (sheet === undefined) return choices;
  const field = (value: string) => index(value, sheet.fields.length, -1);
  const [sort, falling] = parts(fields.get("sort"));
  if (field(sort) >= 0) choices.sort = [field(sort), falling === "1"];
  choices.find = (fields.get("find") ?? "").slice(0, MOST_LETTERS);
  for (const [of, ...ranks] of fields.getAll("only").map(parts)) {
    const { length } = sheet.fields[field(of)]?.choices ?? [];
    const chosen = ranks.map((rank) => index(rank, length, -1)).filter((rank) => rank >= 0);
    if (chosen.length > 0) choices.only[field(of)] = chosen;
  }
  for (const [of, ...range] of fields.getAll("in").map(parts)) {
    const [low, high] = range.map(Number);
    if (sheet.fields[field(of)]?.numeric && low <= high) choices.within[field(of)] = [low, high];
  }
  choices.front = fields.get("front") === "1";
  choices.plan = readPlan(parts(fields.get("chart")), sheet, field);
  const log = parts(fields.get("log"));
  if (log.length === 2 && log.every((on) => LOGS.includes(on))) {
    choices.log = [0, 1].map((i) => (log[i] === "-" ? null : log[i] === "1")) as Choices["log"];
  }
  choices.row = index(fields.get("row"), sheet.rows, -1);
  return choices;
}

function readPlan(parts: string[], sheet: Sheet, field: (value: string) => number): Plan | null {
  const [kind, x, y, by, low, high] = parts;
  if (parts.length !== 6 || !["none", "points", "curves", "parts"].includes(kind)) return null;
  const those = (list: string) => list.split(".").map(field).filter((i) => i >= 0);
  const plan = {
    kind: kind as Plan["kind"], x: field(x), y: those(y), by: those(by), low: field(low),
    high: field(high),
  };
  return plan.kind === "none" ? plan : sheet.planned(plan, plan.kind);
}
