// The clock, with time held in the test's hand.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Clock, WHOLE_MS } from "../../src/clock.ts";

let now = 0;
let clock: Clock;

beforeEach(() => {
  now = 1000;
  clock = new Clock(4e6, () => now);
});

test("it stands still until it plays", () => {
  now += 5000;
  assert.equal(clock.moment, 0);
  clock.play();
  now += WHOLE_MS / 4;
  assert.equal(clock.moment, 1e6);
});

test("a pause keeps the moment", () => {
  clock.play();
  now += WHOLE_MS / 2;
  clock.pause();
  now += 5000;
  assert.equal(clock.moment, 2e6);
});

test("another speed doesn't make it jump", () => {
  clock.play();
  now += WHOLE_MS / 4;
  clock.speed = 2;
  assert.equal(clock.moment, 1e6);
  now += WHOLE_MS / 4;
  assert.equal(clock.moment, 3e6);
});

test("it ends at the end, and plays from the beginning then", () => {
  clock.play();
  now += 10 * WHOLE_MS;
  assert.equal(clock.moment, 4e6);
  clock.pause();
  clock.play();
  assert.equal(clock.moment, 0);
});

test("a moment outside the run is moved into it", () => {
  clock.seek(-5);
  assert.equal(clock.moment, 0);
  clock.seek(9e9);
  assert.equal(clock.moment, 4e6);
});

test("another length keeps the moment where it can", () => {
  clock.seek(3e6);
  clock.fit(8e6);
  assert.equal(clock.moment, 3e6);
  clock.fit(2e6);
  assert.equal(clock.moment, 2e6);
});
