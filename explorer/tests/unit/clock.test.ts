// The clock, with time held in the test's hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, WHOLE_MS } from "../../src/clock.ts";

let now = 0;

/** A clock of 4,000,000 ps, and what lets shares of its whole time pass. */
function made(): [Clock, (share: number) => void] {
  now = 1000;
  return [new Clock(4e6, () => now), (share) => (now += share * WHOLE_MS)];
}

test("it stands still until it plays", () => {
  const [clock, pass] = made();
  pass(0.25);
  assert.equal(clock.moment, 0);
  clock.play();
  pass(0.25);
  assert.equal(clock.moment, 1e6);
});

test("a pause keeps the moment", () => {
  const [clock, pass] = made();
  clock.play();
  pass(0.5);
  clock.play(false);
  pass(0.25);
  assert.equal(clock.moment, 2e6);
});

test("another speed doesn't make it jump", () => {
  const [clock, pass] = made();
  clock.play();
  pass(0.25);
  clock.speed = 2;
  assert.equal(clock.moment, 1e6);
  pass(0.25);
  assert.equal(clock.moment, 3e6);
});

test("it ends at the end, and plays from the beginning then", () => {
  const [clock, pass] = made();
  clock.play();
  pass(10);
  assert.equal(clock.moment, 4e6);
  clock.play(false);
  clock.play();
  assert.equal(clock.moment, 0);
});

test("a moment stays inside the run, whose length may change", () => {
  const [clock] = made();
  const cases = [[-5, 4e6, 0], [9e9, 4e6, 4e6], [3e6, 8e6, 3e6], [3e6, 2e6, 2e6]];
  for (const [moment, length, is] of cases) {
    clock.fit(4e6);
    clock.seek(moment);
    clock.fit(length);
    assert.equal(clock.moment, is);
  }
});
