// Made-up results: a sweep with a front, verdicts with long explanations, curves with bands,
// parts, a hundred thousand rows, hostile texts, and an iteration of training.

import type {
  Bytes, Chart, Data, Quantity, Results, Run, Table, TableColumn, Timeline,
} from "../src/format.ts";
import { EVIL, packed } from "./made.ts";

export const packResults = (results: unknown): Bytes =>
  ({ data: packed(new TextEncoder().encode(JSON.stringify(results))) });

export const dataWith = (results: Results, runs: Run[] = []): Data => ({
  format: "tutti-explore", version: 2, title: "A made-up sweep", command: "tutti sweep x.toml",
  runs, results: packResults(results),
});

export function columnOf(
  name: string, quantity: Quantity, values: TableColumn["values"],
  role: TableColumn["role"] = "metric", better: TableColumn["better"] = "lower",
): TableColumn {
  const title = name.replace(/_(ps|bytes)$/, "").replaceAll("_", " ");
  return { name, title, quantity, role, better, meaning: `What ${name} means.`, values };
}

const NO_CHART = { x: "", y: [], by: [], low: "", high: "" };

export const tableOf = (
  title: string, columns: TableColumn[], chart: Partial<Chart> & Pick<Chart, "kind"> | null = null,
): Table => ({
  title, notes: [], columns, runs: [], pictures: [], chart: chart && { ...NO_CHART, ...chart },
});

/** A table of so many rows, its columns made row by row. */
function made(
  title: string, rows: number,
  columns: [string, Quantity, (i: number) => TableColumn["values"][0], TableColumn["role"]?][],
  chart?: Parameters<typeof tableOf>[2],
): Table {
  return tableOf(title, columns.map(([name, quantity, of, role]) =>
    columnOf(name, quantity, [...Array(rows).keys()].map(of), role)), chart);
}

/** Some algorithms at some sizes, three seeds each. */
export function sweep(rows = 120): Table {
  const size = (i: number) => 2 ** (10 + 2 * (Math.floor(i / 12) % 10));
  const time = (i: number) => 2e6 + (size(i) * (i % 4 + 2) * (1 + (i % 7) / 20)) / 0.05;
  const table = made("points", rows, [
    ["label", "text", (i) => `point ${i}`, "key"],
    ["topology", "text", () => "torus2d:8x8", "key"],
    ["algorithm", "text", (i) => ["tacos", "ring", "flows", "direct"][i % 4], "key"],
    ["size_bytes", "bytes", size, "key"],
    ["status", "text", (i) => (i % 17 === 5 ? "timed_out" : "optimal")],
    ["time_ps", "time", (i) => (i % 17 === 5 ? null : time(i))],
    ["bandwidth", "rate", (i) => (size(i) / time(i)) * 1e12],
    ["gap", "ratio", (i) => 1 + (i % 13) / 20 + 0.4 / (1 + ((i * 7919) % 101))],
    ["effort_seconds", "effort", (i) => 0.017 * (1 + ((i * 7919) % 101)), "cost"],
    ["never", "count", () => null],
  ], { kind: "points", x: "effort_seconds", y: ["gap"], by: ["algorithm"] });
  table.columns[6].better = "higher";
  return { ...table, notes: ["Each point is a schedule. Below and to the left is better."] };
}

export function verdicts(): Table {
  const words = ["match", "direction holds", "differs", "unexpected"];
  const table = made("verdicts", 8, [
    ["figure", "text", (i) => `Fig. ${i + 1}`, "key"],
    ["expected", "numeral", (i) => `${i + 3}/2`],
    ["found", "number", (i) => 1.5 + i / 2 + (i % 4) / 10],
    ["off", "part", (i) => (i % 4) / 20],
    ["verdict", "text", (i) => words[i % 4]],
    ["explanation", "text", (i) => (i % 4 < 2 ? "" : "The simulated network has no protocol and no "
      + "congestion control, and kernels don't slow down while others run beside them."), "note"],
  ]);
  const svg = (colour: string) => "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 200 100'>"
    + "<script>document.title = 'broken'</script>"
    + `<rect width='150' height='60' fill='${colour}'/></svg>`;
  table.pictures = ["teal", "orange", "navy", "gray", "red"].map((colour) =>
    ({ title: `Fig. in ${colour}`, svg: svg(colour) }));
  return table;
}

export function curves(): Table {
  const mean = (i: number) => 1e6 * (1 + i % 3) * (1 + 2 ** (Math.floor(i / 3) - 8));
  return made("curves", 60, [
    ["library", "text", (i) => ["nccl", "tutti", "msccl"][i % 3], "key"],
    ["size_bytes", "bytes", (i) => 2 ** (8 + Math.floor(i / 3)), "key"],
    ["predicted_ps", "time", (i) => mean(i) * 0.92], ["median_ps", "time", mean],
    ["least_ps", "time", (i) => mean(i) * 0.7], ["most_ps", "time", (i) => mean(i) * 1.6],
  ], {
    kind: "curves", x: "size_bytes", y: ["predicted_ps", "median_ps"], by: ["library"],
    low: "least_ps", high: "most_ps",
  });
}

export const parts = (): Table => made("parts of iterations", 6, [
  ["model", "text", (i) => ["llama", "resnet"][i % 2], "key"],
  ["npus", "count", (i) => 8 << i, "key"],
  ["computing", "part", (i) => 0.7 - i / 20], ["exposed", "part", (i) => 0.1 + i / 25],
  ["bubble", "part", () => 0.1], ["iteration_ps", "time", (i) => 3e12 / (i + 1)],
], { kind: "parts", y: ["computing", "exposed", "bubble"], by: ["model", "npus"] });

/** An iteration of NPUs: layers computed, tensors exchanged between them, data at the end. */
export function training(npus = 4, title = "llama, 1F1B"): Timeline {
  const timeline: Timeline = {
    title, length_ps: 130e9, npus: [...Array(npus).keys()].map((i) => `npu${i}`),
    names: ["forward", "backward", "all_reduce tensor", "all_reduce data"],
    kinds: ["compute", "tensor", "data"], npu: [], name: [], kind: [], start: [], duration: [],
  };
  const add = (npu: number, kind: number, name: number, start: number, duration: number) => {
    const span = { npu, kind, name, start: start * 1e9, duration: duration * 1e9 };
    for (const key of ["npu", "kind", "name", "start", "duration"] as const) {
      timeline[key].push(span[key]);
    }
  };
  for (let npu = 0; npu < npus; npu++) {
    for (let layer = 0; layer < 8; layer++) {
      add(npu, 0, layer < 4 ? 0 : 1, npu * 2 + layer * 12, layer < 4 ? 8 : 10);
      add(npu, 1, 2, npu * 2 + layer * 12 + 7, 4 + (layer % 3));
    }
    add(npu, 2, 3, npu * 2 + 80, 40);
  }
  return timeline;
}

/** Hostile texts wherever results hold texts. */
export function evil(): Results {
  const columns = EVIL.map((name, i): TableColumn => ({
    ...columnOf(name, "text", EVIL.map((_, row) => EVIL[(row + i) % EVIL.length])),
    title: name, meaning: name, role: i % 2 === 0 ? "key" : "metric",
  }));
  columns.push(columnOf("number", "number", EVIL.map((_, i) => i)));
  const table = tableOf(EVIL[0], columns,
    { kind: "points", x: "number", y: ["number"], by: [EVIL[4]] });
  table.notes = EVIL;
  table.pictures = EVIL.map((name) => ({ title: name, svg: name }));
  const timeline = training(EVIL.length, EVIL[4]);
  Object.assign(timeline, { npus: EVIL, names: EVIL.slice(0, 4), kinds: EVIL.slice(1, 4) });
  return { tables: [table, { ...verdicts(), title: EVIL[4] }], timelines: [timeline] };
}
