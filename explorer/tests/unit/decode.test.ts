// The decoder: what is packed comes back, and what is broken is an error in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBytes, decodeColumn } from "../../src/decode.ts";
import { column, leb128, packed } from "../made.ts";

const VALUES = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 5, 2 ** 40, Number.MAX_SAFE_INTEGER - 1];

test("a column comes back, as differences too, and empty", async () => {
  for (const delta of [false, true]) {
    const into = new Float64Array(VALUES.length);
    await decodeColumn(column(VALUES, delta), into, Infinity, "starts");
    assert.deepEqual([...into], VALUES);
  }
  assert.equal((await decodeColumn(column([]), new Uint32Array(0), 1, "links")).length, 0);
});

const long = column(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009)).data;
const broken: [string, string, number, number, RegExp][] = [
  ["too few numbers", column(VALUES).data, VALUES.length + 1, Infinity,
    /The starts are cut short: 10 were promised, 9 are there\./],
  ["a number cut in its middle", packed(leb128([5, 300]).slice(0, 2)), 2, 1000, /cut short/],
  ["too many numbers", column(VALUES).data, 3, Infinity, /too long/],
  ["packed data cut short", long.slice(0, 400), 1000, 2000, /can't be unpacked/],
  ["a number out of range", column([3, 8]).data, 2, 8, /The starts hold 8, which is out of range/],
  ["what isn't base64", "?", 1, 8, /aren't base64/],
];
for (const [what, data, count, limit, words] of broken) {
  test(`an error: ${what}`, async () => {
    const into = new Float64Array(count);
    await assert.rejects(decodeColumn({ delta: false, data }, into, limit, "starts"), words);
  });
}

test("bytes come back, and their number is checked", async () => {
  const data = packed(Uint8Array.of(1, 2, 255));
  assert.deepEqual([...await decodeBytes({ data }, 3, "shares")], [1, 2, 255]);
  await assert.rejects(decodeBytes({ data }, 4, "shares"), /3 bytes instead of 4/);
});
