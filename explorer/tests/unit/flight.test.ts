// The index over time against a look at every hop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Flights } from "../../src/flight.ts";
import { randomly } from "../made.ts";

const random = randomly(7);

function hops(count: number, span: number, longest: number): [Float64Array, Float64Array] {
  const start = Float64Array.from({ length: count }, () => random(span)).sort();
  const end = start.map((s) => s + (random(50) === 0 ? random(span) : random(longest)));
  return [start, end];
}

for (const count of [0, 1, 2, 255, 256, 257, 1000, 5000]) {
  test(`${count} random hops`, () => {
    const [start, end] = hops(count, 2000, 40);
    const flights = new Flights(start, end);
    const events = [...new Set([...start, ...end])].sort((a, b) => a - b);
    for (let i = 0; i < 120; i++) {
      const moment = random(2400) - 100;
      const brute = [...start.keys()].filter((h) => start[h] <= moment && moment < end[h]);
      assert.deepEqual(flights.at(moment), brute);
      assert.equal(flights.next(moment), events.find((e) => e > moment) ?? null);
      assert.equal(flights.previous(moment), events.findLast((e) => e < moment) ?? null);
    }
  });
}
