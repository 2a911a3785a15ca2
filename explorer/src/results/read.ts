// Unpacks and checks results; what doesn't fit together is an error in words.

import { decodeText, demand } from "../decode.ts";
import type { Bytes, Results, Table, Timeline } from "../format.ts";
import { shown } from "../words.ts";
import { Sheet } from "./sheet.ts";
import { Strip } from "./training.tsx";

export interface Findings { sheets: Sheet[]; strips: Strip[] }

const check = (is: boolean, what: string) => demand(is, `The results can't be shown: ${what}.`);

function checkTable({ title, columns, chart, runs }: Table, count: number) {
  const table = `the table "${shown(title, 40)}"`;
  const names = new Set(columns.map(({ name }) => name));
  const rows = columns[0]?.values.length ?? 0;
  check(names.size === columns.length, `${table} has two columns of one name`);
  for (const { name, values } of columns) {
    check(values.length === rows, `the columns of ${table} differ in length`);
    check(values.every((value) => value === null || typeof value !== "object"),
      `the column "${shown(name, 40)}" of ${table} holds more than texts and numbers`);
  }
  check([0, rows].includes(runs.length), `${table} has ${runs.length} runs for ${rows} rows`);
  check(runs.every((run) => Number.isInteger(run) && run >= -1 && run < count),
    `${table} has a run that doesn't exist`);
  if (chart === null) return;
  check(["points", "curves", "parts"].includes(chart.kind),
    `${table} has a chart of a kind that this page doesn't know`);
  for (const name of [chart.x, chart.low, chart.high, ...chart.y, ...chart.by]) {
    check(name === "" || names.has(name),
      `the chart of ${table} wants a column "${shown(name, 40)}", which isn't there`);
  }
}

function checkTimeline(timeline: Timeline) {
  const { npu, name, kind, start, duration, npus, names, kinds } = timeline;
  const title = `the timeline "${shown(timeline.title, 40)}"`;
  check([npu, name, kind, duration].every(({ length }) => length === start.length),
    `the columns of ${title} differ in length`);
  for (const [indices, { length }] of [[npu, npus], [name, names], [kind, kinds]] as const) {
    check(indices.every((i) => Number.isInteger(i) && i >= 0 && i < length),
      `${title} has a span of an NPU, name or kind that doesn't exist`);
  }
  check([...start, ...duration, timeline.length_ps].every((t) => Number.isFinite(t) && t >= 0),
    `${title} has a span at no time`);
}

export async function readResults(packed: Bytes, runs: number): Promise<Findings> {
  const text = await decodeText(packed, "results");
  let results: Results;
  try {
    results = JSON.parse(text) as Results;
    results.tables.forEach((table) => checkTable(table, runs));
    results.timelines.forEach(checkTimeline);
  } catch (error) {
    check(!(error instanceof SyntaxError), "they aren't JSON");
    check(!(error instanceof TypeError), "something in them is missing");
    throw error;
  }
  check(results.tables.length + results.timelines.length > 0, "they are empty");
  return {
    sheets: results.tables.map((table) => new Sheet(table)),
    strips: results.timelines.map((timeline) => new Strip(timeline)),
  };
}
