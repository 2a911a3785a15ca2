// Results read, checked, filtered and sorted; Pareto fronts; exposed time; and their fragment.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HUES, hue, mark, type Palette } from "../../src/colour.ts";
import type { Results } from "../../src/format.ts";
import { AS_IS, choiceFields, type Choices, readChoices } from "../../src/results/choices.ts";
import { drawable } from "../../src/results/plot.ts";
import { type Findings, readResults } from "../../src/results/read.ts";
import { filtered, paretoFront, rivals, rowsBy } from "../../src/results/sheet.ts";
import { Strip, uncovered, union } from "../../src/results/training.tsx";
import { numberOf, signOf, toneOf, written } from "../../src/words.ts";
import { SvgPen } from "../../src/svg.ts";
import {
  columnOf, curves, evil, packResults, sweep, tableOf, training, verdicts,
} from "../results.ts";

const read = (results: Results, runs = 0): Promise<Findings> =>
  readResults(packResults(results), runs);
const findings = () => read({ tables: [sweep(), verdicts(), curves()], timelines: [training()] });

test("values are written by what they count", () => {
  const cases: [number | string | boolean | null, Parameters<typeof written>[1], string][] = [
    [351_100_000, "time", "351.1 us"], [64 * 2 ** 20, "bytes", "64 MiB"], [0, "bytes", "0 B"],
    [1_234_567, "bytes", "1.235 MB"], [999, "bytes", "999 B"], [49.2e9, "rate", "49.2 GB/s"],
    [0.932, "part", "93.2 %"], [1.0526, "ratio", "1.053"], [0.0171, "seconds", "17.1 ms"],
    [12_345.6, "effort", "12,346 s"], [1_234_567, "count", "1,234,567"], [true, "truth", "yes"],
    [2.5e9, "amount", "2.5 G"], [1 / 3, "number", "0.333333"], [null, "time", ""],
    ["a\u202eb", "text", "ab"], ["3/2", "numeral", "3/2"],
  ];
  for (const [value, quantity, words] of cases) assert.equal(written(value, quantity), words);
  assert.deepEqual(["3/2", "auto: 8", "7", "none"].map(numberOf), [1.5, 8, 7, NaN]);
});

test("columns that say nothing or the same, and long notes, aren't in the table", async () => {
  const [points, judged] = (await findings()).sheets;
  assert.deepEqual(points.same.map(({ title }) => title), ["topology"]);
  assert.ok(!points.seen.some(({ column }) => column.name === "never"));
  assert.ok(!judged.seen.some(({ column }) => column.name === "explanation"));
  assert.deepEqual(points.series([points.fields[4], points.fields[2]]).names.slice(3, 5),
    ["optimal, ring", "timed_out, direct"]);
  const choices = points.fields.filter((field) => field.choices.length > 0);
  assert.deepEqual(choices.map(({ title }) => title), ["algorithm", "status"]);
});

test("results that don't fit together are refused in words", async () => {
  const refused: [(results: Results) => void, RegExp][] = [
    [({ tables }) => tables[0].columns[2].values.pop(), /differ in length/],
    [({ tables }) => (tables[0].columns[2].name = "label"), /two columns of one name/],
    [({ tables }) => (tables[0].runs = Array(120).fill(1)), /a run that doesn't exist/],
    [({ tables }) => (tables[0].runs = [0]), /1 runs for 120 rows/],
    [({ tables }) => tables[1].chart!.y.push("lost"), /a column "lost"/],
    [({ tables }) => (tables[0].columns[0].values[3] = {} as never), /more than texts/],
    [({ tables }) => (tables[1].chart!.kind = "pie" as never), /of a kind/],
    [({ timelines }) => timelines[0].kind.pop(), /differ in length/],
    [({ timelines }) => (timelines[0].npu[0] = 99), /doesn't exist/],
    [({ timelines }) => (timelines[0].start[0] = -1), /at no time/],
    [(results) => delete (results as Partial<Results>).timelines, /is missing/],
    [(results) => (results.tables = results.timelines = []), /they are empty/],
  ];
  for (const [spoil, words] of refused) {
    const results = { tables: [sweep(), curves()], timelines: [training()] };
    spoil(results);
    await assert.rejects(read(results, 1), words);
  }
  await assert.rejects(readResults(packResults("").data.slice(2) as never, 0));
  await assert.rejects(readResults({ data: "AAAA" }, 0), /The results can't be unpacked/);
  await read(evil(), 0);
});

test("rows are sorted, what isn't known last, and filtered by all filters at once", async () => {
  const [sheet] = (await findings()).sheets;
  const times = sheet.fields.find(({ title }) => title === "time")!;
  for (const falling of [false, true]) {
    const sorted = rowsBy(sheet, [times.index, falling]).map((row) => times.values[row]);
    const known = sorted.filter((time) => time !== null) as number[];
    assert.deepEqual(sorted.slice(known.length), Array(120 - known.length).fill(null));
    assert.deepEqual(known, [...known].sort((a, b) => (falling ? b - a : a - b)));
  }
  const rows = rowsBy(sheet, null);
  const choices: Choices = { ...AS_IS, only: { 2: [0, 3] }, within: { 5: [0, 4e6] }, find: "T 1" };
  const expected = rows.filter((row) =>
    ["direct", "tacos"].includes(sheet.fields[2].words(row)) && times.numbers[row] <= 4e6
    && sheet.fields[0].words(row).startsWith("point 1"));
  assert.ok(expected.length > 3);
  assert.deepEqual(filtered(sheet, rows, choices), expected);
  assert.equal(filtered(sheet, rows, { ...AS_IS, find: "<nothing>" }).length, 0);
});

test("the front is what no row beats, with ties, whichever way is better", async () => {
  const { sheets } = await read({ timelines: [], tables: [tableOf("t", [
    columnOf("cost", "number", [1, 2, 2, 3, 3, 4, null, 1]),
    columnOf("gain", "number", [1, 5, 5, 4, 9, 9, 99, 1], "metric", "higher"),
  ], { kind: "points", x: "cost", y: ["gain"] })] });
  const [cost, gain] = rivals(sheets[0], sheets[0].plan)!;
  assert.deepEqual(paretoFront([0, 1, 2, 3, 4, 5, 6, 7], cost, gain), [0, 7, 1, 2, 4]);
  const [sheet] = (await findings()).sheets;
  const pair = rivals(sheet, sheet.plan)!;
  const rows = rowsBy(sheet, null);
  const costs = (row: number) => pair.map(({ numbers }) => numbers[row]);
  const unbeaten = rows.filter((row) => !rows.some((other) =>
    costs(other).every((value, i) => value <= costs(row)[i])
    && costs(other).some((value, i) => value < costs(row)[i])));
  assert.ok(unbeaten.length > 2);
  assert.deepEqual(paretoFront(rows, ...pair).sort((a, b) => a - b), unbeaten);
  assert.equal(rivals(sheet, { ...sheet.plan, x: 3 }), null);
});

test("exposed is communication while nothing is computed", () => {
  const pieces: [number, number][] = [];
  assert.deepEqual(union([[5, 7], [0, 2], [1, 3], [7, 8]]), [[0, 3], [5, 8]]);
  uncovered([[0, 10], [4, 6], [12, 14]], [[2, 5], [9, 13]],
    (_, from, to) => pieces.push([from, to]));
  assert.deepEqual(pieces, [[0, 2], [5, 9], [5, 6], [13, 14]]);
  const strip = new Strip({
    title: "t", length_ps: 100, npus: ["a", "b"], names: ["x", "y"],
    kinds: ["compute", "tensor", "data"], npu: [0, 0, 0, 0, 1], name: [0, 0, 1, 1, 1],
    kind: [0, 0, 1, 2, 2], start: [0, 30, 5, 50, 10], duration: [10, 30, 20, 25, 20],
  });
  assert.deepEqual(strip.uses, [
    { computing: 40, communicating: 45, exposed: [0, 15, 15], idle: 30 },
    { computing: 0, communicating: 20, exposed: [0, 0, 20], idle: 80 },
  ]);
  assert.deepEqual(strip.longest, [
    { span: 4, exposed: 20 }, { span: 2, exposed: 15 }, { span: 3, exposed: 15 },
  ]);
  const lanes = strip.lanes.map(({ npu, kind }) => [npu, kind]);
  assert.deepEqual(lanes, [[0, 0], [0, 1], [0, 2], [1, 2]]);
});

test("choices come back from their fragment, and nonsense is left out", async () => {
  const found = await findings();
  const choices: Choices = {
    table: 2, sort: [2, true], find: "a&b=_c", only: { 0: [1, 2] }, within: { 2: [1.5, 2e21] },
    front: true, log: [true, null], row: 7, strip: 0, beside: 0, span: [10, 90],
    plan: { kind: "curves", x: 1, y: [2, 3], by: [0], low: -1, high: 5 },
  };
  const text = new URLSearchParams(choiceFields(choices)).toString();
  assert.deepEqual(readChoices(`#${text}`, found), choices);
  assert.deepEqual(choiceFields(AS_IS), []);
  const nonsense = "table=9&sort=99_1&only=0_7&only=x&only=2_9&in=0_5_2&in=2_b_c&in=2_3_2&log=5_5"
    + "&row=1e9&strip=4&beside=-3&span=9_1&chart=pie_1_2_3_4_5&front=yes";
  assert.deepEqual(readChoices(nonsense, found), AS_IS);
  const odd = readChoices("table=2&chart=points_77_99.x_0_y_-1", found);
  assert.deepEqual(odd.plan, { kind: "points", x: 1, y: [2], by: [0], low: -1, high: -1 });
  assert.equal(readChoices("table=-1", found).table, -1);
});

test("verdicts and statuses have a sign beside their colour", () => {
  const verdicts = ["match", "direction holds", "left open", "not judged", "differs", "unexpected"];
  assert.deepEqual(verdicts.map((words) => toneOf("verdict", words)),
    ["good", "middle", "middle", "middle", "off", "bad"]);
  const tones = ["feasible", "timed_out", "crashed", "hm", "toString"]
    .map((words) => toneOf("status", words));
  assert.deepEqual(tones, ["good", "middle", "bad", "", ""]);
  assert.equal(toneOf("name", "differs"), "");
  assert.equal(new Set((["good", "middle", "off", "bad", ""] as const).map(signOf)).size, 5);
});

test("names leave out what is the same in all rows, and nothing", async () => {
  const { sheets: [sheet] } = await read({ timelines: [], tables: [tableOf("t", [
    columnOf("label", "text", [null, null, null], "key"),
    columnOf("topology", "text", ["mesh", "mesh", "mesh"], "key"),
    columnOf("algorithm", "text", ["ring", "tacos", "ring"], "key"),
    columnOf("chunks", "text", ["8", null, "4"], "key"),
  ])] });
  assert.deepEqual(sheet.series(sheet.fields).names, ["ring, 4", "ring, 8", "tacos"]);
  assert.equal(sheet.names(sheet.fields.slice(1, 2))(0), "mesh");
});

test("a chart whose x hasn't two values is drawn as bars of its first y", async () => {
  const [, , sheet] = (await findings()).sheets;
  const plot = (rows: number[]) =>
    ({ sheet, rows, plan: sheet.plan, log: AS_IS.log, front: null, row: -1 });
  assert.equal(drawable(plot([0, 3])), sheet.plan);
  assert.deepEqual(drawable(plot([0, 1])), { ...sheet.plan, kind: "parts", y: [2] });
  assert.equal(drawable(plot([])).kind, "parts");
});

test("twelve series at least differ in colour or shape", () => {
  const look = (i: number) => {
    const pen = new SvgPen(10, 10);
    pen.begin();
    mark(pen, i, 0, 0, 1);
    pen.fill(hue({ dark: false, soft: "grey" } as Palette, i));
    return pen.file();
  };
  assert.ok(HUES >= 12);
  assert.equal(new Set(Array.from({ length: HUES + 1 }, (_, i) => look(i))).size, HUES + 1);
});
