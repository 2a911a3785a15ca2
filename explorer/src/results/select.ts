// Which rows are shown, in which order, and which of them nothing else beats.

import type { Choices } from "./choices.ts";
import type { Field, Plan, Sheet } from "./sheet.ts";

/** All rows, sorted; where nothing is known comes last. */
export function inOrder(sheet: Sheet, sort: Choices["sort"]): number[] {
  const rows = [...Array(sheet.rows).keys()];
  if (sort === null) return rows;
  const { numbers } = sheet.fields[sort[0]];
  const sign = sort[1] ? -1 : 1;
  const known = rows.filter((row) => !Number.isNaN(numbers[row]));
  const unknown = rows.filter((row) => Number.isNaN(numbers[row]));
  return [...known.sort((a, b) => sign * (numbers[a] - numbers[b]) || a - b), ...unknown];
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
