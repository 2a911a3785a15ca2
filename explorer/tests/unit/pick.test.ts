// Picking: the nearest node, else the nearest link, else nothing; and zooms that come back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { place, pointOn, shapeOf, zoomOf } from "../../src/geometry.ts";
import { pick, Room } from "../../src/pick.ts";
import { large } from "../made.ts";

const { network } = large(5, 10);
const shape = shapeOf(network);

test("each node is found where it stands", () => {
  shape.x.forEach((x, node) => {
    const found = pick(shape, x + 0.01, shape.y[node] - 0.01, 0.04, 0.02);
    assert.deepEqual(found, { kind: "node", id: node });
  });
});

test("each link is found on its own side, a stub at both its ends", () => {
  network.links.from.forEach((_, link) => {
    for (const s of shape.stub[link] === 1 ? [0.4, 0.6] : [0.5]) {
      const found = pick(shape, ...pointOn(shape, link, s), 0.04, 0.01);
      assert.deepEqual(found, { kind: "link", id: link });
    }
  });
});

test("a stub leaves its node away from the other end, and comes in from beyond that", () => {
  const { from, to, stubs } = network.links;
  // From the last node of the first row to the first.
  const link = stubs.find((stub) => from[stub] === 4 && to[stub] === 0)!;
  const way = [0, 0.5, 0.501, 1].map((s) => pointOn(shape, link, s)[0]);
  assert.ok(Math.abs(way[0] - 1) < 1e-9 && way[1] > 1.1);
  assert.ok(way[2] < -0.1 && Math.abs(way[3]) < 1e-9);
});

test("words take room once", () => {
  const room = new Room();
  assert.ok(room.take(50, 50, 20, 12));
  assert.ok(!room.take(62, 54, 20, 12));
  assert.ok(room.take(90, 50, 20, 12));
  room.keep(50, 80, 20, 12);
  assert.ok(!room.take(50, 80, 20, 12));
});

test("far off there is nothing", () => {
  assert.equal(pick(shape, 3, 3, 0.05, 0.05), null);
});

test("parallel links stand apart", () => {
  const twice = structuredClone(network);
  twice.links.from = [0, 0];
  twice.links.to = [1, 1];
  const { controlY } = shapeOf(twice);
  assert.notEqual(controlY[0], controlY[1]);
});

test("a placing and its zoom say the same", () => {
  const zoom = { k: 3, x: 0.2, y: 0.7 };
  const back = zoomOf(shape, place(shape, zoom, 800, 500), 800, 500);
  for (const key of ["k", "x", "y"] as const) assert.ok(Math.abs(back[key] - zoom[key]) < 1e-9);
});
