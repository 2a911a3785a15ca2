// Pages with results, opened in a browser: tables, charts, pictures and timelines, with runs and
// without.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, ring } from "../made.ts";
import {
  curves, dataWith, evil, packResults, parts, sweep, training, verdicts,
} from "../results.ts";
import { cells, close, download, open, paints, show, tab, template } from "./browser.ts";
import { pageOf } from "../made.ts";

const all = () => ({
  tables: [sweep(), verdicts(), curves(), parts()],
  timelines: [training(), training(8, "llama, interleaved")],
});

const sizes: [number, number, boolean][] = [
  [390, 844, false], [390, 844, true], [1280, 800, false], [1280, 800, true],
  [2560, 1440, false], [2560, 1440, true],
];
for (const [width, height, dark] of sizes) {
  test(`results ${width} pixels wide${dark ? ", dark" : ""}`, async () => {
    for (const [at, name] of ["points", "verdicts", "curves", "parts", "timelines"].entries()) {
      const table = at < 4 ? at : -1;
      const fragment = `#table=${table}&beside=1${table < 2 ? "&row=2" : ""}`;
      const page = await show(dataWith(all(), [ring()]), { width, height, dark, fragment }, ".results");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      await page.waitForTimeout(150);
      await close(page, `results-${name}-${width}${dark ? "-dark" : ""}`);
      assert.ok(wide <= width, `${name}: ${wide} pixels wide`);
    }
  });
}
void cells, download, open, paints, tab, template, pageOf, packResults, evil, dataOf;
