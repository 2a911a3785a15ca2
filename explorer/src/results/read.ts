// Unpacks and checks results; what doesn't fit together is an error in words.

import { decodeText } from "../decode.ts";
import type { Bytes, Results, Table, Timeline } from "../format.ts";
import { shown } from "../words.ts";
import { Sheet } from "./sheet.ts";
import { Strip } from "./spans.ts";

export interface Findings { sheets: Sheet[]; strips: Strip[] }

function refuse(what: string): never {
  throw new Error(`The results can't be shown: ${what}.`);
}

function checkTable(table: Table, runs: number) {
  const { columns, chart } = table;
  const title = `the table "${shown(table.title, 40)}"`;
  const names = new Set(columns.map(({ name }) => name));
  if (names.size !== columns.length) refuse(`${title} has two columns of one name`);
  const rows = columns[0]?.values.length ?? 0;
  for (const { name, values } of columns) {
    if (!Array.isArray(values) || values.length !== rows) {
      refuse(`the columns of ${title} differ in length`);
    }
    if (values.some((value) => value !== null && typeof value === "object")) {
      refuse(`the column "${shown(name, 40)}" of ${title} holds more than texts and numbers`);
    }
  }
  if (table.runs.length !== 0 && table.runs.length !== rows) {
    refuse(`${title} has ${table.runs.length} runs for ${rows} rows`);
  }
  if (table.runs.some((run) => !(Number.isInteger(run) && run >= -1 && run < runs))) {
    refuse(`${title} has a run that doesn't exist`);
  }
  if (chart === null) return;
  if (!["points", "curves", "parts"].includes(chart.kind)) {
    refuse(`${title} has a chart of a kind that this page doesn't know`);
  }
  for (const name of [chart.x, chart.low, chart.high, ...chart.y, ...chart.by]) {
    if (name !== "" && !names.has(name)) {
      refuse(`the chart of ${title} wants a column "${shown(name, 40)}", which isn't there`);
    }
  }
}

function checkTimeline(timeline: Timeline) {
  const { npu, name, kind, start, duration, npus, names, kinds } = timeline;
  const title = `the timeline "${shown(timeline.title, 40)}"`;
  if ([npu, name, kind, duration].some(({ length }) => length !== start.length)) {
    refuse(`the columns of ${title} differ in length`);
  }
  const outside = (indices: number[], { length }: string[]) =>
    indices.some((i) => !(Number.isInteger(i) && i >= 0 && i < length));
  if (outside(npu, npus) || outside(name, names) || outside(kind, kinds)) {
    refuse(`${title} has a span of an NPU, name or kind that doesn't exist`);
  }
  const wrong = (times: number[]) => times.some((t) => !(Number.isFinite(t) && t >= 0));
  if (wrong(start) || wrong(duration) || !(timeline.length_ps >= 0)) {
    refuse(`${title} has a span at no time`);
  }
}

export async function readResults(packed: Bytes, runs: number): Promise<Findings> {
  const text = await decodeText(packed, "results");
  let results: Results;
  try {
    results = JSON.parse(text) as Results;
    results.tables.forEach((table) => checkTable(table, runs));
    results.timelines.forEach(checkTimeline);
  } catch (error) {
    if (error instanceof SyntaxError) refuse("they aren't JSON");
    if (error instanceof TypeError) refuse("something in them is missing");
    throw error;
  }
  if (results.tables.length + results.timelines.length === 0) refuse("they are empty");
  return {
    sheets: results.tables.map((table) => new Sheet(table)),
    strips: results.timelines.map((timeline) => new Strip(timeline)),
  };
}
