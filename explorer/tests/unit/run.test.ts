// Runs unpacked: arrivals, gaps and the critical path of a ring, and what is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../../src/format.ts";
import { pickGantt, rowsOf } from "../../src/ganttpane.tsx";
import { busyNow, inFlight, measure } from "../../src/measure.ts";
import { arrivals } from "../../src/panels/arriving.tsx";
import { criticalSteps, hottestLink, idleGaps } from "../../src/panels/why.tsx";
import { loadRun, readData } from "../../src/run.ts";
import { dataOf, large, ring } from "../made.ts";

test("in the end every NPU of a ring holds every chunk", async () => {
  const curves = arrivals(await loadRun(ring(8)));
  assert.equal(curves?.held?.slowest[0], 1);
  assert.equal(curves?.held?.slowest.at(-1), 8);
  assert.equal(curves?.held?.fastest.at(-1), 8);
  assert.equal(curves?.deliveries.at(-1), 56);
});

test("the gaps and waits of a ring are its pauses", async () => {
  const loaded = await loadRun(ring(8, 250_000));
  assert.equal(hottestLink(loaded), 0);
  const gaps = idleGaps(loaded, 0);
  assert.deepEqual(gaps.map((gap) => gap.to - gap.from), Array(6).fill(250_000));
  const waits = criticalSteps(loaded).map((step) => step.waited);
  assert.deepEqual(waits, [0, ...Array(6).fill(250_000)]);
});

test("successive hops of the critical path over one link are one step", async () => {
  const run = ring(8, 250_000);
  // Link 0 in three rounds, then link 1 in two.
  run.critical = [0, 8, 16, 25, 33];
  const steps = criticalSteps(await loadRun(run));
  assert.deepEqual(steps, [
    { first: 0, last: 16, count: 3, waited: 0, between: 500_000, brought: false },
    { first: 25, last: 33, count: 2, waited: 250_000, between: 250_000, brought: true },
  ]);
});

test("what is in flight on links equals a count of all hops", async () => {
  const loaded = await loadRun(large(6, 3000));
  const hops = loaded.hops!;
  for (let moment = 0; moment < loaded.length; moment += loaded.length / 17) {
    const counts = new Float64Array(loaded.links);
    for (let i = 0; i < hops.count; i++) {
      if (hops.start[i] <= moment && moment < hops.end[i]) counts[hops.link[i]]++;
    }
    assert.deepEqual(inFlight(loaded, moment), counts);
  }
});

test("bins tell how busy a link is, and differences are to the other run", async () => {
  const [one, two] = await Promise.all([loadRun(ring(8, 0)), loadRun(ring(8, 2_000_000))]);
  assert.equal(busyNow(one, 0, 1_000_000), 1);
  assert.equal(busyNow(one, 8, 1_000_000), 0);
  const { values, signed } = measure(one, "difference", 0, two);
  assert.ok(signed);
  assert.ok(Math.abs(values[0] - (7 / 13 - 1)) < 1e-9);
});

test("the Gantt finds the hop under the pointer", async () => {
  const loaded = await loadRun(ring(8));
  const rows = rowsOf(loaded, "link", { kind: "link", id: 3 });
  const chart = { rows, range: [0, loaded.length] as [number, number], scroll: 0 };
  const found = pickGantt(chart, loaded, 170, 25, 800);
  assert.equal(found?.link, 3);
  assert.equal(found?.hop, 3);
});

test("data of another kind are refused in words", async () => {
  assert.throws(() => readData("{"), /aren't JSON/);
  assert.throws(() => readData("{\"format\": \"else\"}"), /aren't of the format/);
  assert.throws(() => readData(JSON.stringify({ ...dataOf(ring()), runs: [] })), /no run/);
  const refused: [(run: Run) => void, RegExp][] = [
    [(run) => (run.network.links.to[3] = 99), /nodes that don't exist/],
    [(run) => run.network.links.bytes.pop(), /differ in length/],
    [(run) => (run.critical = [1e6]), /critical path/],
  ];
  for (const [spoil, words] of refused) {
    const run = ring();
    spoil(run);
    await assert.rejects(loadRun(run), words);
  }
});
