// Made-up results: a sweep with a front, verdicts with long explanations, curves with bands,
// parts, a hundred thousand rows, hostile texts, and an iteration of training.

import { deflateRawSync } from "node:zlib";
import type {
  Bytes, Chart, Data, Quantity, Results, Run, Table, TableColumn, Timeline,
} from "../src/format.ts";
import { hostile } from "./made.ts";

export const packResults = (results: unknown): Bytes =>
  ({ data: deflateRawSync(JSON.stringify(results)).toString("base64") });

export function dataWith(results: Results, runs: Run[] = []): Data {
  return {
    format: "tutti-explore", version: 2, title: "A made-up sweep", command: "tutti sweep x.toml",
    runs, results: packResults(results),
  };
}

export function columnOf(
  name: string, quantity: Quantity, values: TableColumn["values"],
  role: TableColumn["role"] = "metric", better: TableColumn["better"] = "lower",
): TableColumn {
  const title = name.replace(/_(ps|bytes)$/, "").replaceAll("_", " ");
  return { name, title, quantity, role, better, meaning: `What ${name} means.`, values };
}

export function tableOf(title: string, columns: TableColumn[], chart: Partial<Chart> = {}): Table {
  return {
    title, notes: [], columns, runs: [], pictures: [],
    chart: chart.kind === undefined ? null
      : { kind: chart.kind, x: "", y: [], by: [], low: "", high: "", ...chart },
  };
}

const ALGORITHMS = ["tacos", "ring", "flows", "direct"];

/** Some algorithms at some sizes, three seeds each. */
export function sweep(rows = 120): Table {
  const all = [...Array(rows).keys()];
  const size = (i: number) => 2 ** (10 + 2 * (Math.floor(i / 12) % 10));
  const time = (i: number) => 2e6 + (size(i) * (i % 4 + 2) * (1 + (i % 7) / 20)) / 0.05;
  const table = tableOf("points", [
    columnOf("label", "text", all.map((i) => `point ${i}`), "key"),
    columnOf("topology", "text", all.map(() => "torus2d:8x8"), "key"),
    columnOf("algorithm", "text", all.map((i) => ALGORITHMS[i % 4]), "key"),
    columnOf("size_bytes", "bytes", all.map(size), "key"),
    columnOf("status", "text", all.map((i) => (i % 17 === 5 ? "timed_out" : "optimal"))),
    columnOf("time_ps", "time", all.map((i) => (i % 17 === 5 ? null : time(i)))),
    columnOf("bandwidth", "rate", all.map((i) => (size(i) / time(i)) * 1e12), "metric", "higher"),
    columnOf("gap", "ratio", all.map((i) => 1 + (i % 13) / 20 + 0.4 / (1 + ((i * 7919) % 101)))),
    columnOf("effort_seconds", "effort", all.map((i) => 0.017 * (1 + ((i * 7919) % 101))), "cost"),
    columnOf("never", "count", all.map(() => null)),
  ], { kind: "points", x: "effort_seconds", y: ["gap"], by: ["algorithm"] });
  table.notes = ["Each point is a schedule. Below and to the left is better."];
  return table;
}

export function verdicts(): Table {
  const words = ["match", "direction holds", "differs", "unexpected"];
  const all = [...Array(8).keys()];
  const table = tableOf("verdicts", [
    columnOf("figure", "text", all.map((i) => `Fig. ${i + 1}`), "key"),
    columnOf("expected", "numeral", all.map((i) => `${i + 3}/2`)),
    columnOf("found", "number", all.map((i) => 1.5 + i / 2 + (i % 4) / 10)),
    columnOf("off", "part", all.map((i) => (i % 4) / 20)),
    columnOf("verdict", "text", all.map((i) => words[i % 4])),
    columnOf("explanation", "text", all.map((i) =>
      i % 4 < 2 ? "" : "The simulated network has no protocol and no congestion control, and "
        + "kernels don't slow down while others run beside them."), "note"),
  ]);
  const svg = (colour: string) => "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 200 100'>"
    + "<script>document.title = 'broken'</script>"
    + `<rect width='150' height='60' fill='${colour}'/></svg>`;
  table.pictures = ["teal", "orange", "navy", "gray", "red"].map((colour) =>
    ({ title: `Fig. in ${colour}`, svg: svg(colour) }));
  return table;
}

export function curves(): Table {
  const all = [...Array(60).keys()];
  const mean = (i: number) => 1e6 * (1 + i % 3) * (1 + 2 ** (Math.floor(i / 3) - 8));
  return tableOf("curves", [
    columnOf("library", "text", all.map((i) => ["nccl", "tutti", "msccl"][i % 3]), "key"),
    columnOf("size_bytes", "bytes", all.map((i) => 2 ** (8 + Math.floor(i / 3))), "key"),
    columnOf("predicted_ps", "time", all.map((i) => mean(i) * 0.92)),
    columnOf("median_ps", "time", all.map(mean)),
    columnOf("least_ps", "time", all.map((i) => mean(i) * 0.7)),
    columnOf("most_ps", "time", all.map((i) => mean(i) * 1.6)),
  ], {
    kind: "curves", x: "size_bytes", y: ["predicted_ps", "median_ps"], by: ["library"],
    low: "least_ps", high: "most_ps",
  });
}

export function parts(): Table {
  const all = [...Array(6).keys()];
  return tableOf("parts of iterations", [
    columnOf("model", "text", all.map((i) => ["llama", "resnet"][i % 2]), "key"),
    columnOf("npus", "count", all.map((i) => 8 << i), "key"),
    columnOf("computing", "part", all.map((i) => 0.7 - i / 20)),
    columnOf("exposed", "part", all.map((i) => 0.1 + i / 25)),
    columnOf("bubble", "part", all.map(() => 0.1)),
    columnOf("iteration_ps", "time", all.map((i) => 3e12 / (i + 1))),
  ], { kind: "parts", x: "", y: ["computing", "exposed", "bubble"], by: ["model", "npus"] });
}

/** An iteration of NPUs: layers computed, tensors exchanged between them, data at the end. */
export function training(npus = 4, title = "llama, 1F1B"): Timeline {
  const timeline: Timeline = {
    title, length_ps: 0, npus: [...Array(npus).keys()].map((i) => `npu${i}`),
    names: ["forward", "backward", "all_reduce tensor", "all_reduce data"],
    kinds: ["compute", "tensor", "data"], npu: [], name: [], kind: [], start: [], duration: [],
  };
  const add = (npu: number, kind: number, name: number, start: number, duration: number) => {
    timeline.npu.push(npu);
    timeline.kind.push(kind);
    timeline.name.push(name);
    timeline.start.push(start * 1e9);
    timeline.duration.push(duration * 1e9);
  };
  for (let npu = 0; npu < npus; npu++) {
    for (let layer = 0; layer < 8; layer++) {
      add(npu, 0, layer < 4 ? 0 : 1, npu * 2 + layer * 12, layer < 4 ? 8 : 10);
      add(npu, 1, 2, npu * 2 + layer * 12 + 7, 4 + (layer % 3));
    }
    add(npu, 2, 3, npu * 2 + 80, 40);
  }
  timeline.length_ps = 130e9;
  return timeline;
}

/** Hostile texts wherever results hold texts. */
export function evil(): Results {
  const names = hostile().network.nodes.name;
  const columns = names.map((name, i) => ({
    ...columnOf(name, "text", names.map((_, row) => names[(row + i) % names.length])),
    title: name, meaning: name, role: (i % 2 === 0 ? "key" : "metric") as TableColumn["role"],
  }));
  columns.push(columnOf("number", "number", names.map((_, i) => i)));
  const table = tableOf(names[0], columns, { kind: "points", x: "number", y: ["number"],
    by: [names[4]] });
  table.notes = names;
  table.pictures = names.map((name) => ({ title: name, svg: name }));
  const timeline = training(names.length, names[4]);
  Object.assign(timeline, { npus: names, names: names.slice(0, 4), kinds: names.slice(1, 4) });
  return { tables: [table, { ...verdicts(), title: names[4] }], timelines: [timeline] };
}
