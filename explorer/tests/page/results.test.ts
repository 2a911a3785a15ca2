// Pages with results, opened in a browser: tables, charts, pictures and timelines, with runs and
// without.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, pageOf, ring } from "../made.ts";
import {
  columnOf, curves, dataWith, evil, packResults, parts, sweep, tableOf, training, verdicts,
} from "../results.ts";
import {
  boxOf, cells, close, download, fits, fragmentOf, open, paints, press, show, SIZES, template,
  timed,
} from "./browser.ts";

const all = () => ({
  tables: [sweep(), verdicts(), curves(), parts()],
  timelines: [training(), training(8, "llama, interleaved")],
});

for (const [width, height, dark] of SIZES) {
  test(`results ${width} pixels wide${dark ? ", dark" : ""}`, async () => {
    for (const [at, name] of ["points", "verdicts", "curves", "parts", "timelines"].entries()) {
      const table = at < 4 ? at : -1;
      const fragment = `#table=${table}&beside=1${table < 2 ? "&row=2" : ""}`;
      const options = { width, height, dark, fragment };
      const page = await show(dataWith(all(), [ring()]), options, ".results");
      await fits(page, width);
      await page.waitForTimeout(150);
      await close(page, `results-${name}-${width}${dark ? "-dark" : ""}`);
    }
  });
}

test("with runs the page opens on results, and a row opens its network", async () => {
  const table = sweep();
  table.runs = table.columns[0].values.map((_, i) => (i < 2 ? 1 - i : -1));
  const data = dataWith({ tables: [table], timelines: [] }, [ring(), ring(8, 0, "second")]);
  const page = await show(data, {}, ".results");
  assert.equal(await page.locator("canvas.network").count(), 0);
  assert.equal(await page.getByRole("tab").count(), 0);
  const open = page.getByRole("button", { name: "open the network" }).first();
  assert.ok((await open.boundingBox())!.x < 20);
  await open.click();
  await page.waitForSelector("canvas.network");
  assert.equal(await page.locator("select").first().inputValue(), "1");
  assert.equal((await fragmentOf(page)).get("view"), "network");
  await page.getByRole("button", { name: "back to results" }).click();
  await page.locator("tr.selected", { hasText: "point 0" }).waitFor();
  await page.getByRole("button", { name: "network", exact: true }).click();
  await page.getByRole("button", { name: "results", exact: true }).click();
  await page.waitForSelector(".results");
  await close(page);
});

test("without runs the results are the page", async () => {
  const page = await show(dataWith({ tables: [verdicts()], timelines: [] }), {
    fragment: "#view=network",
  }, ".results");
  assert.equal(await page.getByRole("button", { name: "network", exact: true }).count(), 0);
  await press(page, " ", "ArrowRight", "w", "f", "m", "Escape");
  assert.equal(await page.locator(".results h2").innerText(), "verdicts");
  await close(page, "results-alone");
});

test("a note keeps its lines in a box of its own", async () => {
  const lines = "name = \"quick\"\n\n[parameters]\nsize = 1";
  const table = { ...tableOf("the sweep", []), notes: [lines, "One line."] };
  const page = await show(dataWith({ tables: [table], timelines: [] }), {}, "pre");
  assert.equal(await page.locator("pre").innerText(), lines);
  assert.equal(await page.locator("p.note").innerText(), "One line.");
  await close(page);
});

test("damaged results are told in words", async () => {
  const data = { ...dataOf(ring()), results: packResults({ tables: [{}], timelines: [] }) };
  const page = await open(pageOf(template, data));
  await page.getByText("The results can't be shown: something in them is missing.").waitFor();
  await close(page);
});

test("a verdict's explanation unfolds, and pictures run nothing", async () => {
  const page = await show(dataWith(all()), { fragment: "#table=1" }, ".results");
  assert.equal(await page.getByText("no congestion control").count(), 0);
  await page.getByRole("button", { name: "Fig. 3" }).press("Enter");
  await page.getByText("no congestion control").waitFor();
  assert.equal((await fragmentOf(page)).get("row"), "2");
  assert.equal(await page.locator(".off").first().innerText(), "\u2260 differs");
  assert.equal(await page.locator("img").count(), 3);
  await page.getByText("2 more pictures").click();
  await page.getByAltText("Fig. in red").click();
  assert.equal(await page.locator("figure.full img").count(), 1);
  assert.doesNotMatch(await page.title(), /broken/);
  await close(page);
});

test("filters, order, front and chart are in the address", async () => {
  const page = await show(dataWith(all()), {}, ".results");
  await page.getByText("algorithm all").click();
  await page.getByRole("group", { name: "algorithm" }).getByText("tacos").click();
  await page.getByText("30 of 120 rows").waitFor();
  await page.keyboard.press("Tab");
  await page.getByLabel("find a text").fill("point 1");
  await page.getByText("7 of 120 rows").waitFor();
  await page.getByRole("button", { name: "time", exact: true }).click();
  await page.getByRole("button", { name: "show only those" }).click();
  const fragment = await fragmentOf(page);
  assert.deepEqual(["only", "find", "sort", "front"].map((key) => fragment.get(key)),
    ["2_3", "point 1", "5_0", "1"]);
  const shown = await cells(page, "points");
  assert.ok(shown.length > 0 && shown.length < 7 && shown.every((row) => row[1] === "tacos"));
  await page.reload();
  await page.waitForSelector(".results");
  assert.deepEqual(await cells(page, "points"), shown);
  await page.getByRole("button", { name: "clear" }).click();
  await page.getByText("120 of 120 rows").waitFor();
  await page.locator(".charts select").first().selectOption("curves");
  await page.locator(".charts select").first().selectOption("none");
  assert.equal((await fragmentOf(page)).get("chart")?.split("_")[0], "none");
  await close(page);
});

test("a rectangle filters, hover tells, a click chooses, the chart is saved", async () => {
  const page = await show(dataWith(all()), {}, ".plot canvas");
  const box = await boxOf(page, ".plot canvas");
  const drag = async (x0: number, y0: number, x1: number, y1: number) => {
    await page.mouse.move(box.x + x0 * box.width, box.y + y0 * box.height);
    await page.mouse.down();
    await page.mouse.move(box.x + x1 * box.width, box.y + y1 * box.height, { steps: 4 });
    await page.mouse.up();
  };
  await drag(0.5, 0.6, 0.99, 0.9);
  const chip = page.getByRole("button", { name: /^gap: / });
  await chip.waitFor();
  const count = (await cells(page, "points")).length;
  assert.ok(count > 5 && count < 100, `${count} rows`);
  await chip.click();
  await page.getByRole("button", { name: "clear" }).click();
  const find = async () => {
    for (let x = 0.1; x < 0.95; x += 0.02) {
      for (let y = 0.15; y < 0.85; y += 0.05) {
        await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
        if (await page.locator(".plot .tip").count() > 0) return;
      }
    }
  };
  await find();
  const told = await page.locator(".plot .tip td").first().innerText();
  await page.mouse.down();
  await page.mouse.up();
  assert.equal(await page.locator("tr.selected td").first().innerText(), told);
  assert.match(await download(page, "SVG"), /^<svg.*Pareto front/s);
  assert.match(await download(page, "PNG"), /^\ufffdPNG/);
  await close(page);
});

test("timelines zoom and pan by keys, wheel, drag and the table", async () => {
  const page = await show(dataWith(all()), { fragment: "#table=-1" }, ".strip canvas");
  assert.deepEqual((await cells(page, "shares of"))[0],
    ["npu0", "55.4%", "54.6%", "16.2%", "21.5%", "9.2%"]);
  const span = async () => (await fragmentOf(page)).get("span");
  await page.getByRole("button", { name: "all_reduce data" }).first().click();
  assert.equal(await span(), "60000000000_130000000000");
  await press(page, "f", "w", "d");
  assert.equal(await span(), "48750000000_113750000000");
  const box = await boxOf(page, ".strip canvas");
  await page.mouse.move(box.x + 600, box.y + 27);
  await page.locator(".under", { hasText: /npu0, compute: (for|back)ward/ }).waitFor();
  await page.mouse.down();
  await page.mouse.move(box.x + 700, box.y + 27);
  await page.mouse.up();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  const [from, to] = (await span())!.split("_").map(Number);
  assert.ok(from < 60e9 && Math.abs(to - from - 32.5e9) < 1e9, `${from} to ${to}`);
  assert.match(await download(page, "SVG"), /backward/);
  await close(page, "results-timeline-zoomed");
});

test("hostile results run nothing and break nothing", async () => {
  for (const [width, height] of [[390, 844], [1280, 800], [2560, 1440]]) {
    const data = dataWith(evil());
    data.title = evil().tables[0].title;
    const page = await show(data, { width, height, dark: width === 1280 }, ".results");
    await page.locator("tbody tr").nth(4).click();
    await page.locator("details:not(.menu) summary").click();
    for (const text of [/^timeline$/, /^x+\u2026$/, /^<script>/]) {
      await fits(page, width);
      const svg = page.getByRole("button", { name: "SVG" });
      if (await svg.isEnabled()) {
        assert.doesNotMatch(await download(page, "SVG"), /<script|<img/);
      }
      await page.getByRole("tab", { name: text }).first().click();
    }
    assert.doesNotMatch(await page.title(), /^broken/);
    await page.locator(".charts select").first().selectOption("parts");
    await paints(page);
    await close(page, `results-hostile-${width}`);
  }
});

test("a hundred thousand rows are filtered and sorted fast", async (t) => {
  const data = dataWith({ tables: [sweep(100_000)], timelines: [] });
  const [page, opened] = await timed(data, {}, ".plot canvas");
  assert.equal((await cells(page, "points")).length, 200);
  const takes = (act: string) => page.evaluate(async (act) => {
    const before = performance.now();
    const search = document.querySelector("input[type=search]") as HTMLInputElement;
    if (act === "sort") (document.querySelector("thead button") as HTMLElement).click();
    else {
      search.value = act;
      search.dispatchEvent(new Event("input", { bubbles: true }));
    }
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return performance.now() - before;
  }, act);
  const times = [];
  for (const act of ["tacos", "point 9", "sort", ""]) times.push(await takes(act));
  t.diagnostic(`opened in ${opened.toFixed(0)} ms; ${times.map((ms) => ms.toFixed(0))} ms`);
  assert.ok(Math.max(...times.filter((_, i) => i !== 2)) < 1000, `${times}`);
  await page.getByRole("button", { name: "show more" }).click();
  assert.equal((await cells(page, "points")).length, 400);
  await close(page, "results-many");
});

test("tables without rows, columns or numbers, and timelines without spans", async () => {
  const odd = [
    tableOf("no columns", []), tableOf("no rows", [columnOf("a", "text", [])]),
    tableOf("one row", [columnOf("a", "time", [5])], { kind: "curves", x: "a", y: ["a"] }),
    tableOf("nothing known", [columnOf("a", "time", [null, null])],
      { kind: "points", x: "a", y: ["a"] }),
    tableOf("all the same", [columnOf("a", "count", [0, 0]), columnOf("b", "text", ["x", "x"])],
      { kind: "parts", y: ["a"], by: ["b"] }),
    tableOf("negative", [columnOf("a", "number", [-3, 0, 1e300]), columnOf("b", "part", [0, 1, 2])],
      { kind: "points", x: "a", y: ["b"], by: ["b"] }),
    ...["f", "g", "h"].map((title) => tableOf(title, [columnOf("a", "texts", ["x", "y"])])),
  ];
  const timelines = [training(0, "no NPUs"), { ...training(0), npus: ["npu0"] }];
  const page = await show(dataWith({ tables: odd, timelines }), {}, ".results");
  for (let table = -1; table < odd.length; table++) {
    await page.locator(".results > .bar select").selectOption(String(table));
    if (table >= 0 && table < 2) {
      assert.equal(await page.locator(".charts, .rest").count(), 0);
      continue;
    }
    for (const kind of table < 0 ? [] : ["points", "curves", "parts", "none"]) {
      await page.locator(".charts select").first().selectOption(kind);
      await paints(page);
    }
  }
  await close(page);
  const alone = await show(dataWith({ tables: [], timelines }), {}, ".strip canvas");
  await press(alone, "w", "w", "a", "d", "s", "f");
  await close(alone);
});
