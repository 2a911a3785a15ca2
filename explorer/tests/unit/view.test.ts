// The view's way into the address and back, names fit to draw, and the SVG pen's escapes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fromFragment, START, toFragment, type View } from "../../src/state.ts";
import { SvgPen } from "../../src/svg.ts";
import { cut, shown, size, tick, time } from "../../src/words.ts";

test("a view comes back from its fragment", () => {
  const view: View = {
    ...START, run: 1, other: 0, moment: 12345, mark: 7, selection: { kind: "chunk", id: 5 },
    colouring: "bytes", zoom: { k: 2, x: 0.25, y: 0.5 }, range: [10, 90], gantt: "heat",
    fold: false, cut: false, critical: true, tab: "why", theme: "dark",
  };
  assert.deepEqual(fromFragment(`#${toFragment(view)}`, 2), view);
  assert.equal(toFragment(START), "");
});

test("what makes no sense in a fragment is left out", () => {
  const text = "#run=9&moment=-1&selection=npu.x&zoom=0_a_b&range=5_2&colouring=toString&theme=x";
  assert.deepEqual(fromFragment(text, 2), START);
});

test("numbers in words", () => {
  assert.equal(time(351_100_000), "351.1 us");
  assert.equal(time(0), "0 ps");
  assert.equal(time(1_001_139_436), "1.001 ms");
  assert.equal(size(64 * 2 ** 20), "64 MiB");
  assert.equal(tick(1_500_000, 500_000, 4_000_000), "1.5 us");
});

test("names lose what turns or breaks the line, and are cut", () => {
  assert.equal(shown("\u202eab\u0000c\n", 10), "abc");
  assert.equal(shown("x".repeat(10_000), 5), "xxxx\u2026");
  assert.deepEqual([3, 5, 8].map((most) => cut("abcdefgh", most)),
    ["a\u2026h", "ab\u2026gh", "abcdefgh"]);
});

test("names are only text in an SVG file", () => {
  const pen = new SvgPen(10, 10);
  pen.words("<script>\"&'", 0, 0, { size: 10, colour: "red" });
  assert.match(pen.file(), />&lt;script&gt;&quot;&amp;&#39;<\/text>/);
});
