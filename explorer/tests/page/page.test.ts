// Opens pages made from made-up data in a browser, and holds what they show against the data.

import assert from "node:assert/strict";
import { test } from "node:test";
import { binsOf, dataOf, hostile, large, pageOf, ring, tree } from "../made.ts";
import { cells, close, download, open, paints, show, tab, template } from "./browser.ts";

test("without data the page says so", async () => {
  const page = await open(template);
  assert.match(await page.locator(".notice").innerText(), /There is no data in this page/);
  await close(page);
});

test("broken data are told in words", async () => {
  const data = dataOf(ring());
  data.runs[0].hops!.link.data = "AAAA";
  const page = await open(pageOf(template, data));
  await page.waitForFunction(() => /links of hops/.test(document.body.innerText));
  await close(page);
});

test("the tables of links and nodes equal the data", async () => {
  const run = ring();
  const page = await show(dataOf(run), { fragment: "#tab=links&moment=1000000" });
  const { from, to } = run.network.links;
  const rows = await cells(page, "Links at 1 us");
  assert.equal(rows.length, from.length);
  from.forEach((a, link) => {
    const row = rows.find(([name]) => name === `npu${a} > npu${to[link]}`);
    const busy = (100 * run.network.links.busy_ps[link]) / run.completion_ps;
    const runs = link < 8;
    assert.deepEqual(row?.slice(1), [
      `${busy.toFixed(1)}%`, runs ? "7 MiB" : "0 B", runs ? "7" : "0",
      runs ? "100.0%" : "0.0%", runs ? "1" : "0",
    ]);
  });
  await page.getByRole("button", { name: "transfers", exact: true }).click();
  const sorted = (await cells(page, "Links at")).map((row) => Number(row[3]));
  assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
  await tab(page, "Nodes");
  for (const row of await cells(page, "Nodes at")) assert.deepEqual(row.slice(1, 4),
    ["NPU", "1", "1"]);
  await close(page);
});

test("a chunk's arrivals equal its hops", async () => {
  const page = await show(dataOf(ring()), { fragment: "#moment=5000000" });
  await page.getByLabel("chunk").fill("0");
  const rows = await cells(page, "Arrivals: 2 of 7 so far");
  assert.deepEqual(rows.map((row) => row[0]), [1, 2, 3, 4, 5, 6, 7].map((i) => `npu${i}`));
  assert.deepEqual(rows[2].slice(1), ["4.5 us", "6.5 us", " in flight"]);
  await close(page, "ring-chunk-1280");
});

test("the critical path and the gaps are told in words", async () => {
  const page = await show(dataOf(ring()), { fragment: "#tab=why&critical=1&moment=3000000" });
  const steps = await page.locator(".steps li").allInnerTexts();
  assert.equal(steps.length, 7);
  assert.equal(steps[1], "then its data, waited 250 ns: npu1 > npu2, chunk 0: 2.25 us to 4.25 us");
  assert.equal((await cells(page, "Idle gaps")).length, 6);
  await close(page, "ring-why-1280");
});

test("keys step, play, mark, zoom and pan, and the address tells the view", async () => {
  const page = await show(dataOf(ring()));
  const moment = page.locator("output.moment");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector(".moment")?.textContent === "2 us");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("m");
  await page.keyboard.press("w");
  await page.keyboard.press("d");
  await page.keyboard.press("ArrowLeft");
  await page.waitForTimeout(1300);
  const fragment = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
  assert.equal(fragment.get("moment"), "2000000");
  assert.equal(fragment.get("mark"), "2250000");
  assert.match(fragment.get("range") ?? "", /^\d+_\d+$/);
  await page.keyboard.press("f");
  await page.keyboard.press(" ");
  await page.waitForTimeout(600);
  await page.keyboard.press(" ");
  assert.notEqual(await moment.innerText(), "2 us");
  await close(page);
});

test("hover tells numbers, a click selects, the pictures are saved", async () => {
  const run = ring();
  const page = await show(dataOf(run));
  const box = (await page.locator("canvas.network").boundingBox())!;
  // npu0 stands at the top, just beneath the margin and the bow of its links.
  const top = box.y + 46;
  await page.mouse.move(box.x + box.width / 2, top);
  await page.waitForSelector(".tip");
  assert.match(await page.locator(".tip").innerText(), /npu0/);
  await page.mouse.click(box.x + box.width / 2, top);
  await tab(page, "Selection");
  assert.match(await page.locator(".panel h2").innerText(), /npu0/);
  assert.match(await download(page, "SVG"), /^<svg/);
  assert.match(await download(page, "PNG"), /^\ufffdPNG/);
  await page.waitForTimeout(300);
  await close(page);
});

test("two runs are compared side by side on one clock", async () => {
  const page = await show(dataOf(ring(), ring(8, 1_000_000, "ring with pauses")));
  await page.getByLabel("side by side").check();
  await tab(page, "Compare");
  await page.getByRole("button", { name: "colour links by the difference" }).click();
  assert.equal(await page.locator("canvas.network").count(), 2);
  const rows = await cells(page, "Busy shares of links");
  assert.equal(rows[0][1], "90.3%");
  assert.equal(rows[0][2], "70.0%");
  await page.keyboard.press("ArrowRight");
  await close(page, "compare-1280");
});

test("a part of the hops, switches and parallel links", async () => {
  const fragment = "#moment=6000000&gantt=npu&colouring=flight&selection=link.34&tab=arrivals";
  const page = await show(dataOf(tree()), { fragment });
  assert.match(await page.locator(".panel").innerText(), /Only the hops from 0 ps to/);
  await tab(page, "Facts");
  assert.match(await page.locator(".panel").innerText(), /600 of 5,000/);
  await page.mouse.move(431, 140);
  await page.mouse.wheel(0, -200);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.mouse.move(400, 690);
  await page.waitForTimeout(300);
  await close(page, "tree-1280");
});

test("runs without hops, bins, links or a bound are shown as far as they go", async () => {
  const bare = ring(1, 0, "bare");
  Object.assign(bare, { hops: null, bound_ps: null, cut: [], critical: [], completion_ps: 0 });
  bare.bins = binsOf([], 0, 0, 1);
  for (const column of Object.values(bare.network.links)) column.length = 0;
  const without = ring(8, 0, "without hops");
  Object.assign(without, { hops: null, critical: [] });
  for (const run of [bare, without]) {
    const page = await show(dataOf(run));
    const names = ["Selection", "Links", "Nodes", "Why", "Arrivals", "Facts"];
    for (const name of names) await tab(page, name);
    for (const key of ["ArrowRight", "ArrowLeft", " ", "w", "d", "f"]) {
      await page.keyboard.press(key);
    }
    await page.waitForTimeout(200);
    await close(page, run.label.replace(" ", "-"));
  }
});

test("a second run that is broken is told of, and the first stays", async () => {
  const data = dataOf(ring(), ring());
  data.runs[1].bins.share.data = "AAAA";
  const page = await show(data);
  await page.getByLabel("side by side").click();
  await page.getByText("shares of bins").waitFor();
  assert.equal(await page.locator("canvas.network").count(), 1);
  await close(page);
});

test("hostile names run nothing and break nothing", async () => {
  for (const [width, height] of [[390, 844], [1280, 800]]) {
    const page = await show(dataOf(hostile(), ring()), { width, height, dark: width > 1000 });
    for (const name of ["Links", "Nodes", "Why", "Arrivals", "Compare", "Facts"]) {
      await tab(page, name);
    }
    await page.getByRole("searchbox").fill("script");
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".panel h2").innerText(), /^<script>/);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} pixels wide`);
    assert.doesNotMatch(await page.title(), /^broken/);
    assert.equal(await page.locator("img").count(), 0);
    const svg = await download(page, "SVG");
    const flaw = await page.evaluate((text) => new DOMParser()
      .parseFromString(text, "image/svg+xml").querySelector("parsererror")?.textContent, svg);
    assert.equal(flaw ?? "", "");
    assert.doesNotMatch(svg, /<script|<img/);
    await page.waitForTimeout(100);
    await close(page, `hostile-${width}`);
  }
});

test("three hundred thousand hops open, seek and play fast", async (t) => {
  const data = dataOf(large(16, 300_000));
  const began = performance.now();
  const page = await open(pageOf(template, data), { fragment: "#colouring=now" });
  await page.waitForSelector("canvas.network");
  await paints(page);
  const opened = performance.now() - began;
  const seeks: number[] = [];
  for (let i = 1; i <= 10; i++) {
    seeks.push(await page.evaluate(async (share) => {
      const slider = document.querySelector(".slider") as HTMLCanvasElement;
      const box = slider.getBoundingClientRect();
      const before = performance.now();
      slider.dispatchEvent(new PointerEvent("pointermove", {
        clientX: box.left + share * box.width, buttons: 1, bubbles: true,
      }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return performance.now() - before;
    }, i / 11));
  }
  seeks.sort((a, b) => a - b);
  await page.keyboard.press(" ");
  const frames = await page.evaluate(() => new Promise<number>((done) => {
    let count = 0;
    const end = performance.now() + 2000;
    const frame = () => {
      count++;
      if (performance.now() < end) requestAnimationFrame(frame);
      else done(count / 2);
    };
    requestAnimationFrame(frame);
  }));
  t.diagnostic(`opened in ${opened.toFixed(0)} ms, sought in ${seeks[5].toFixed(0)} ms, `
    + `${frames.toFixed(0)} frames/s`);
  assert.ok(frames >= 15, `${frames} frames/s`);
  await close(page, "large-1280");
});

const sizes: [number, number, boolean][] = [
  [390, 844, false], [1280, 800, false], [1280, 800, true], [2560, 1440, false],
];
for (const [width, height, dark] of sizes) {
  test(`${width} pixels wide${dark ? ", dark" : ""}`, async () => {
    const page = await show(dataOf(ring(), ring(8, 0, "ring without pauses")), {
      width, height, dark, fragment: "#moment=5500000&tab=arrivals&colouring=all",
    });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} pixels wide`);
    await page.waitForTimeout(300);
    await close(page, `ring-${width}${dark ? "-dark" : ""}`);
  });
}
