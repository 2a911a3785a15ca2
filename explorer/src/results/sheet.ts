// A table of results as the page works with it: which columns are worth showing, which values
// are the same in all rows, and numbers to sort, filter and draw each column by.

import type { Chart, Table, TableColumn } from "../format.ts";
import { byKey, inOrder, ORDER } from "../groups.ts";
import { isNumeric, numberOf, shown, type Value, written } from "../words.ts";
import type { Choices } from "./choices.ts";

/** All rows, sorted; where nothing is known comes last. */
export function rowsBy(sheet: Sheet, sort: Choices["sort"]): number[] {
  const rows = [...Array(sheet.rows).keys()];
  return sort === null ? rows
    : inOrder(rows, (row) => sheet.fields[sort[0]].numbers[row], sort[1]);
}

/** Those rows that the filters let through, but for the one of the front. */
export function filtered(sheet: Sheet, rows: number[], choices: Choices): number[] {
  const tests: ((row: number) => boolean)[] = [];
  for (const [field, ranks] of Object.entries(choices.only)) {
    const { numbers } = sheet.fields[Number(field)];
    const allowed = new Set(ranks);
    tests.push((row) => allowed.has(numbers[row]));
  }
  for (const [field, [low, high]] of Object.entries(choices.within)) {
    const { numbers } = sheet.fields[Number(field)];
    tests.push((row) => numbers[row] >= low && numbers[row] <= high);
  }
  const wanted = choices.find.trim().toLowerCase();
  if (wanted !== "") tests.push((row) => sheet.texts[row].includes(wanted));
  return tests.length === 0 ? rows : rows.filter((row) => tests.every((test) => test(row)));
}

/** The two columns that a chart of points weighs against each other, if both are outcomes. */
export function rivals(sheet: Sheet, plan: Plan): [Field, Field] | null {
  const [x, y] = [sheet.fields[plan.x], sheet.fields[plan.y[0]]];
  const weighs = (field?: Field) =>
    field?.column.role === "metric" || field?.column.role === "cost";
  return plan.kind === "points" && weighs(x) && weighs(y) && x !== y ? [x, y] : null;
}

/** The rows that no other row beats in one column and equals in the other, best in x first. */
export function paretoFront(rows: number[], x: Field, y: Field): number[] {
  const cost = ({ column, numbers }: Field) => {
    const sign = column.better === "lower" ? 1 : -1;
    return (row: number) => sign * numbers[row];
  };
  const [a, b] = [cost(x), cost(y)];
  const known = rows.filter((row) => !Number.isNaN(a(row)) && !Number.isNaN(b(row)));
  known.sort((i, j) => a(i) - a(j) || b(i) - b(j) || i - j);
  const front: number[] = [];
  for (const row of known) {
    const last = front[front.length - 1];
    const equal = last !== undefined && a(last) === a(row) && b(last) === b(row);
    if (last === undefined || b(row) < b(last) || equal) front.push(row);
  }
  return front;
}

/** A text that is longer is read in a row of its own. */
const LONG = 60;
const MOST_CHOICES = 12;
const MOST_SEARCHED = 1000;

export class Field {
  readonly title = shown(this.column.title || this.column.name, 40);
  readonly numeric = isNumeric(this.column.quantity);
  readonly empty = this.values.length > 0 && this.values.every((value) => value === null);
  readonly constant = this.values.length > 1
    && this.values.every((value) => value === this.values[0]);
  readonly long = !this.numeric && this.column.role !== "key"
    && this.values.some((value) => typeof value === "string" && value.length > LONG);
  /** The different texts, sorted, where they are few enough to choose from; else none. */
  readonly choices: string[];
  private kept: Float64Array | undefined;

  constructor(readonly index: number, readonly column: TableColumn) {
    const seen = new Set<Value>();
    for (const value of this.numeric || this.long ? [] : this.values) {
      if (value !== null && seen.add(value).size > MOST_CHOICES) break;
    }
    const few = seen.size > 1 && seen.size < this.values.length && seen.size <= MOST_CHOICES;
    this.choices = few ? distinct([...seen].map((value) => written(value, column.quantity))) : [];
  }

  get values(): Value[] {
    return this.column.values;
  }

  words(row: number, most?: number): string {
    return written(this.values[row], this.column.quantity, most);
  }

  /** Numbers, or the ranks of texts among all that differ; NaN where nothing is known. */
  get numbers(): Float64Array {
    if (this.kept !== undefined) return this.kept;
    if (this.numeric) return (this.kept = Float64Array.from(this.values, numberOf));
    const texts = new Map([...new Set(this.values)].filter((value) => value !== null)
      .map((value) => [value, written(value, this.column.quantity)]));
    const ranks = new Map(distinct([...texts.values()]).map((text, rank) => [text, rank]));
    return (this.kept = Float64Array.from(this.values, (value) =>
      ranks.get(texts.get(value as string) as string) ?? NaN));
  }
}

/** Whether a column tells rows apart. */
export const isTelling = ({ empty, constant }: Field) => !empty && !constant;

const distinct = (texts: string[]) => [...new Set(texts)].sort(ORDER.compare);

/** A chart with its columns as indices, -1 for none. */
export interface Plan {
  kind: "none" | Chart["kind"]; x: number; y: number[]; by: number[]; low: number; high: number;
}

export class Sheet {
  readonly title = shown(this.table.title, 60) || "table";
  readonly rows = this.table.columns[0]?.values.length ?? 0;
  readonly fields = this.table.columns.map((column, i) => new Field(i, column));
  /** The columns that the table has. */
  readonly seen = this.fields.filter((field) => isTelling(field) && !field.long);
  /** The columns that say the same in each row. */
  readonly same = this.fields.filter(({ empty, constant }) => constant && !empty);
  readonly plan: Plan;
  private letters: string[] | undefined;
  private readonly grouped = new Map<string, { names: string[]; of: number[] }>();

  constructor(readonly table: Table) {
    const none = { kind: "none", x: "", y: [], by: [], low: "", high: "" } as const;
    const { kind, x, y, by, low, high } = table.chart ?? none;
    const at = (name: string) => table.columns.findIndex((column) => column.name === name);
    this.plan = { kind, x: at(x), y: y.map(at), by: by.map(at), low: at(low), high: at(high) };
  }

  /** All texts of a row in small letters, to search in. */
  get texts(): string[] {
    const fields = this.fields.filter(({ numeric }) => !numeric);
    const text = (value: Value) => String(value ?? "").slice(0, MOST_SEARCHED);
    return this.letters ??= Array.from({ length: this.rows }, (_, row) =>
      fields.map(({ values }) => text(values[row])).join("\n").toLowerCase());
  }

  /**
   * Rows that agree in some columns: what they are called and, per row, which they are. The most
   * frequent in the whole table come first, so that filters don't change their colours.
   */
  series(by: Field[]): { names: string[]; of: number[] } {
    const key = by.map(({ index }) => index).join();
    const kept = this.grouped.get(key);
    if (kept !== undefined) return kept;
    const groups = byKey(Array(this.rows).keys(), (row) =>
      by.map(({ numbers }) => numbers[row]).join());
    const order = [...groups.values()].sort((a, b) => b.length - a.length
      || by.map(({ numbers }) => numbers[a[0]] - numbers[b[0]]).find((d) => d) || 0);
    const of = new Array<number>(this.rows).fill(0);
    order.forEach((rows, i) => rows.forEach((row) => (of[row] = i)));
    const made = { names: order.map(([row]) => this.names(by)(row)), of };
    this.grouped.set(key, made);
    return made;
  }

  /** What rows are called by those of the columns that tell them apart. */
  names(by: Field[]): (row: number) => string {
    const telling = by.some(isTelling) ? by.filter(isTelling) : by;
    return (row) =>
      telling.map((field) => field.words(row)).filter((part) => part !== "").join(", ");
  }

  /** The plan with another kind of chart, and columns for what that kind still lacks. */
  planned(plan: Plan, kind: Plan["kind"]): Plan {
    const numeric = this.fields.filter((field) => field.numeric && !field.empty);
    const outcome = ({ column }: Field) => column.role === "metric" || column.role === "cost";
    const varied = numeric.filter(({ constant }) => !constant);
    const isNumber = (i: number) => numeric.some(({ index }) => index === i);
    const x = isNumber(plan.x) ? plan.x
      : (varied.find((field) => !outcome(field)) ?? varied[0] ?? numeric[0])?.index ?? -1;
    const y = plan.y.filter(isNumber);
    const first = varied.find((field) => outcome(field) && field.index !== x) ?? numeric[0];
    if (y.length === 0 && first !== undefined) y.push(first.index);
    const text = this.fields.find(({ choices }) => choices.length > 0);
    const by = plan.by.length > 0 || text === undefined ? plan.by : [text.index];
    return { ...plan, kind, x, y, by };
  }
}
