// Folding, moments, what waits for what, and links by time, on made-up runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Folding, foldMeasure, pickDrawn } from "../../src/fold.ts";
import { heatWords, rowsOf } from "../../src/ganttpane.tsx";
import { pointOn } from "../../src/geometry.ts";
import { group } from "../../src/groups.ts";
import { colourings, deadAt, happening, measure, momentFrom, timed } from "../../src/measure.ts";
import { reason, waitings } from "../../src/panels/waiting.tsx";
import { loadRun } from "../../src/run.ts";
import { blocks, failing, large, packHops, ring, still, tree } from "../made.ts";

const torus = await loadRun(blocks(32, 20_000));
const folding = new Folding(torus.run.network);
const folded = folding.at(100, true);

test("a torus folds into its blocks, and each link into the pair of its blocks", () => {
  assert.equal(folded.shape.x.length, 16);
  assert.equal(folded.shape.from.length, 16 * 4);
  const { from, to } = torus.run.network.links;
  const { group: of } = torus.run.network.nodes;
  folded.linkAt.forEach((at, link) => {
    if (at < 0) assert.equal(of[from[link]], of[to[link]]);
    else assert.deepEqual([folded.shape.from[at], folded.shape.to[at]],
      [folded.nodeAt[from[link]], folded.nodeAt[to[link]]]);
  });
  assert.equal(folded.shape.stub.reduce((a, b) => a + b), 16);
});

test("a fold is made once, and unfolds where members are nine pixels apart", () => {
  assert.equal(folding.at(120, true), folded);
  assert.equal(folding.at(8.9 * 31, true).shape.x.length, 16);
  assert.equal(folding.at(9.1 * 31, true), folding.whole);
  assert.equal(folding.at(100, false), folding.whole);
});

test("a group that is denser than others stays folded for longer", () => {
  const { network } = blocks(16, 10);
  const { x, y, group: of } = network.nodes;
  const dense = (at: number, node: number) => (of[node] === 0 ? at / 2 : at);
  Object.assign(network.nodes, { x: x.map(dense), y: y.map(dense) });
  const mixed = new Folding(network).at(10 * 15, true);
  assert.equal(mixed.shape.x.length, 1 + 3 * 64);
  assert.deepEqual([...mixed.groups.keys()].filter((at) => mixed.groups[at] >= 0), [0]);
  assert.equal(mixed.shape.left, new Folding(network).whole.shape.left);
});

test("bytes add up in a folded link, shares are their mean", () => {
  for (const colouring of ["bytes", "all"] as const) {
    const own = measure(torus, colouring, 0, null);
    const { values } = foldMeasure(own, folded);
    values.forEach((value, at) => {
      const those = [...group(folded.carries, at)].map((link) => own.values[link]);
      const sum = those.reduce((a, b) => a + b);
      assert.ok(Math.abs(value - (colouring === "bytes" ? sum : sum / 8)) < 1e-9 * sum);
    });
  }
});

test("folded groups and links are found where they are drawn, and a click's zoom unfolds", () => {
  const at = (x: number, y: number) => pickDrawn(folded, x, y, 0.01, 0.01);
  folded.shape.x.forEach((x, node) => {
    const found = at(x + 0.02, folded.shape.y[node]);
    assert.equal(found?.kind, "group");
    assert.equal(folded.nodeAt[found!.id], node);
    const { k } = folding.zoomTo(node, folded, 100, 400);
    assert.equal(folding.at(100 * k, true), folding.whole);
  });
  const found = at(...pointOn(folded.shape, folded.linkAt[folded.linkAt.length - 3], 0.5));
  assert.equal(found?.kind, "bundle");
});

test("a link is dead between its failure and its repair, whichever way time goes", async () => {
  const loaded = await loadRun(failing());
  const dead = (moment: number) => [...deadAt(loaded, moment).link.keys()]
    .filter((link) => deadAt(loaded, moment).link[link] === 1);
  assert.deepEqual(dead(3_099_999), [15]);
  assert.deepEqual(dead(3_100_000), [3, 15]);
  assert.deepEqual(dead(9_300_000), [5, 6, 13, 14, 15]);
  assert.deepEqual(dead(8_000_000), [15]);
  assert.deepEqual(dead(0), [15]);
  assert.equal(momentFrom(loaded, 3_100_000, 1), 7_000_000);
  assert.equal(momentFrom(loaded, 7_000_000, -1), 3_100_000);
  assert.equal(momentFrom(loaded, 9_300_000, 1), null);
  assert.equal(happening(loaded, 3_000_000, 4_000_000), "3.1 us: npu3>npu4 fails");
});

test("links wait for data under way or not sent yet, a chunk, or their order", async () => {
  const run = ring(4, 0);
  run.hops = packHops([
    [0, 0, 0], [0, 2, 2], [1, 2, 3], [1.5, 1, 0], [3, 2, 0], [5, 3, 3],
  ].map(([us, link, chunk]) => ({ start: us * 1e6, duration: 1e6, link, chunk })));
  run.critical = [];
  const loaded = await loadRun(run);
  const told = (moment: number) => waitings(loaded, moment, loaded.linkNames.keys()).waits
    .map((wait) => `${loaded.linkNames[wait.link]}: ${reason(loaded, loaded.hops!, wait)}`);
  assert.deepEqual(told(500_000), [
    "npu1 > npu2: waits for its data: it is crossing npu0 > npu1 until 1.5 us",
    "npu3 > npu0: waits for its data: it hasn't been sent to npu3 yet, and is there at 2.5 us",
    "npu2 > npu3: waits for its link: chunk 2 is on it until 1 us",
  ]);
  assert.deepEqual(told(4_500_000), ["npu3 > npu0: is there and its link is free: "
    + "held back by the schedule's order until 5 us"]);
  assert.equal(waitings(loaded, 4_500_000, loaded.linkNames.keys()).done, 7);
});

test("on four thousand links each waits, as long as there are hops to come", async () => {
  const many = await loadRun(large(32, 200_000));
  for (const moment of [3e8, 5e8]) {
    const { waits, done } = waitings(many, moment, many.linkNames.keys());
    assert.equal(waits.length, 4096 - done);
    assert.ok(waits.length > 4000 && waits.every(({ until }) => until > moment));
  }
});

test("rows of heat are the links by busy share, those of a node only", async () => {
  const loaded = await loadRun(tree());
  const { busy_ps: busy } = loaded.run.network.links;
  const rows = rowsOf(loaded, "heat", null).map(({ lanes: [link] }) => busy[link]);
  assert.deepEqual(rows, [...busy].sort((a, b) => b - a));
  assert.deepEqual(rowsOf(loaded, "heat", { kind: "node", id: 0 }).map(({ name }) => name).sort(),
    ["leaf0 > npu0", "npu0 > leaf0"]);
  assert.match(heatWords(loaded, 0, 1000), /^npu0 > leaf0, 0 ps to 99.38 ns: busy \d+\.\d%$/);
});

test("a run of which only the network is known is coloured by bandwidth", async () => {
  const loaded = await loadRun(still(ring()));
  assert.deepEqual(colourings(loaded, null), ["bandwidth"]);
  assert.ok(!timed(loaded));
  assert.equal(measure(loaded, "bandwidth", 0, null).largest, 100e9);
});
