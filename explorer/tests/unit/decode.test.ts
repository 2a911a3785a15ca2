// The decoder: what is packed comes back, and what is broken is an error in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBytes, decodeColumn } from "../../src/decode.ts";
import { column, leb128, packed } from "../made.ts";

const VALUES = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 5, 2 ** 40, Number.MAX_SAFE_INTEGER - 1];

for (const delta of [false, true]) {
  test(`a column comes back, delta ${delta}`, async () => {
    const into = new Float64Array(VALUES.length);
    const result = await decodeColumn(column(VALUES, delta), into, Infinity, "starts");
    assert.deepEqual([...result], VALUES);
  });
}

test("an empty column is empty", async () => {
  assert.equal((await decodeColumn(column([]), new Uint32Array(0), 1, "links")).length, 0);
});

test("too few numbers are an error", async () => {
  const into = new Float64Array(VALUES.length + 1);
  await assert.rejects(decodeColumn(column(VALUES), into, Infinity, "starts"),
    /The starts are cut short: 10 were promised, 9 are there\./);
});

test("a number cut in its middle is an error", async () => {
  const cut = { delta: false, data: packed(leb128([5, 300]).slice(0, 2)) };
  await assert.rejects(decodeColumn(cut, new Uint32Array(2), 1000, "links"), /cut short/);
});

test("too many numbers are an error", async () => {
  await assert.rejects(decodeColumn(column(VALUES), new Float64Array(3), Infinity, "starts"),
    /too long/);
});

test("packed data cut short are an error", async () => {
  const whole = column(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009));
  const cut = { delta: false, data: whole.data.slice(0, 400) };
  await assert.rejects(decodeColumn(cut, new Uint32Array(1000), 2000, "links"),
    /can't be unpacked/);
});

test("what isn't base64 is an error", async () => {
  await assert.rejects(decodeBytes({ data: "?" }, 1, "shares"), /aren't base64/);
});

test("a number out of range is an error", async () => {
  await assert.rejects(decodeColumn(column([3, 8]), new Uint32Array(2), 8, "links"),
    /The links hold 8, which is out of range/);
});

test("bytes come back, and their number is checked", async () => {
  const data = packed(Uint8Array.of(1, 2, 255));
  assert.deepEqual([...await decodeBytes({ data }, 3, "shares")], [1, 2, 255]);
  await assert.rejects(decodeBytes({ data }, 4, "shares"), /3 bytes instead of 4/);
});
