// Opens pages made from made-up data in a browser, and holds what they show against the data.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  binsOf, blocks, dataOf, failing, hostile, large, pageOf, ring, ringHops, still, tree,
} from "../made.ts";
import type { Page } from "playwright-core";
import {
  boxOf, cells, close, download, fits, fragmentOf, open, paints, picture, press, show, SIZES, tab,
  template, timed,
} from "./browser.ts";

/** Frames per second over two seconds, while the network is panned where that is asked for. */
const framesOf = (page: Page, pan = false) => page.evaluate((pan) => new Promise<number>((done) => {
  let count = 0;
  const canvas = document.querySelector("canvas.network") as HTMLCanvasElement;
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const mouse = (type: string, at: number) => (type === "mousedown" ? canvas : window)
    .dispatchEvent(new MouseEvent(type, {
      clientX: left + width / 2 + 40 * Math.sin(at / 5), clientY: top + height / 2, view: window,
      bubbles: true, cancelable: true,
    }));
  if (pan) mouse("mousedown", 0);
  const end = performance.now() + 2000;
  const frame = () => {
    count++;
    if (pan) mouse("mousemove", count);
    if (performance.now() < end) requestAnimationFrame(frame);
    else {
      if (pan) mouse("mouseup", count);
      done(count / 2);
    }
  };
  requestAnimationFrame(frame);
}), pan);

const wait = (page: Page) => page.waitForTimeout(300);

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
  await press(page, "ArrowRight", "m", "w", "d", "ArrowLeft");
  const fragment = await fragmentOf(page);
  assert.equal(fragment.get("moment"), "2000000");
  assert.equal(fragment.get("mark"), "2250000");
  assert.match(fragment.get("range") ?? "", /^\d+_\d+$/);
  await press(page, "f", " ");
  await page.waitForTimeout(600);
  await page.keyboard.press(" ");
  assert.notEqual(await moment.innerText(), "2 us");
  await close(page);
});

test("hover tells numbers, a click selects, the pictures are saved", async () => {
  const run = ring();
  const page = await show(dataOf(run));
  const box = await boxOf(page, "canvas.network");
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

test("curves of arrivals tell numbers, and a click seeks", async () => {
  const page = await show(dataOf(ring()), { fragment: "#tab=arrivals" });
  const { x, y, width, height } = await boxOf(page, ".plot canvas");
  for (let down = 30; down < height && await page.locator(".tip").count() === 0; down += 4) {
    await page.mouse.move(x + width / 2, y + down);
  }
  assert.match(await page.locator(".tip").innerText(), /time\s.*us\s+fastest\s+\d/);
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelector(".moment")?.textContent !== "0 ps");
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
  await press(page, "w", "w");
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
    await tab(page, "Selection", "Links", "Nodes", "Why", "Arrivals", "Facts");
    await press(page, "ArrowRight", "ArrowLeft", " ", "w", "d", "f");
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
    await tab(page, "Links", "Nodes", "Why", "Arrivals", "Compare", "Facts");
    await page.getByRole("searchbox").fill("script");
    await page.keyboard.press("Enter");
    assert.match(await page.locator(".panel h2").innerText(), /^<script>/);
    await fits(page, width);
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
  const [page, opened] = await timed(data, { fragment: "#colouring=now" });
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
  const frames = await framesOf(page);
  t.diagnostic(`opened in ${opened.toFixed(0)} ms, sought in ${seeks[5].toFixed(0)} ms, `
    + `${frames.toFixed(0)} frames/s`);
  assert.ok(frames >= 15, `${frames} frames/s`);
  await close(page, "large-1280");
});

const sizes = SIZES.filter(([width, , dark]) => !dark || width === 1280);
for (const [width, height, dark] of sizes) {
  test(`${width} pixels wide${dark ? ", dark" : ""}`, async () => {
    const page = await show(dataOf(ring(), ring(8, 0, "ring without pauses")), {
      width, height, dark, fragment: "#moment=5500000&tab=arrivals&colouring=all",
    });
    await fits(page, width);
    await page.waitForTimeout(300);
    await close(page, `ring-${width}${dark ? "-dark" : ""}`);
  });
}

test("four thousand NPUs are folded, unfold, and pan fast", async (t) => {
  const data = dataOf(blocks(64, 100_000));
  for (const [width, height, dark] of sizes) {
    const [page, opened] = await timed(data, {
      width, height, dark, fragment: `#moment=500000000${dark ? "" : "&selection=node.100"}`,
    });
    const folded = await framesOf(page, true);
    const box = await boxOf(page, "canvas.network");
    await wait(page);
    // On a screen so large nothing is folded.
    const large = width > 2000;
    // Across groups and the links between them.
    const told = [];
    let [x, y] = [box.x + box.width / 2, box.y + box.height / 2 - 5];
    for (let i = 0; i < 60 && !large && !told.join().includes("links inside"); i++) {
      await page.mouse.move(x += 2, y += 1.3);
      await paints(page);
      told.push(await page.locator(".tip").allInnerTexts());
    }
    assert.ok(large || String(told).includes("links inside"));
    await picture(page, `fold-${width}-${dark}`);
    await page.mouse.click(x, y);
    await wait(page);
    const unfolded = await framesOf(page, true);
    await picture(page, `near-${width}-${dark}`);
    await page.getByLabel("fold").uncheck();
    await page.keyboard.press("f");
    await wait(page);
    const whole = await framesOf(page, true);
    t.diagnostic(`${width}: opened in ${opened.toFixed(0)} ms, frames/s: folded ${folded}, `
      + `unfolded ${unfolded}, whole ${whole}`);
    assert.ok(large || folded >= 15 && unfolded >= 15, `${folded}, ${unfolded} frames/s`);
    await close(page, `unfolded-${width}-${dark}`);
  }
});

test("what fails is told, crossed out, and stops the arrows", async () => {
  const page = await show(dataOf(failing()), { fragment: "#tab=why&moment=3000000" });
  assert.deepEqual(await page.locator(".panel ol").first().locator("li").allInnerTexts(), [
    "3.1 us: npu3>npu4 fails", "7 us: npu3>npu4 is mended", "9.3 us: npu6 fails",
  ]);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector(".moment")?.textContent === "3.1 us");
  await page.getByRole("searchbox").fill("npu3 > npu4");
  await page.keyboard.press("Enter");
  await page.getByText("dead", { exact: true }).waitFor();
  await tab(page, "Why");
  const box = await boxOf(page, ".slider");
  await page.mouse.move(box.x + 12 + (3.1e6 / 15_750_000) * (box.width - 24), box.y + 40);
  await wait(page);
  await close(page, "moments-1280");
});

test("what waits is told in sentences that select", async () => {
  const page = await show(dataOf(ring(8, 600_000)), { fragment: "#tab=waiting&moment=2100000" });
  const first = page.locator(".panel li").first();
  assert.equal(await first.innerText(), "npu0 > npu1, idle for 100 ns: chunk 7 waits for its data: "
    + "it is crossing npu7 > npu0 until 2.5 us");
  await first.getByRole("button", { name: "npu0 > npu1" }).click();
  assert.equal(await page.locator(".panel li").count(), 1);
  await close(page, "waiting-1280");
});

test("links by time are coloured, and tell and select what is under the pointer", async () => {
  for (const [width, height, dark] of sizes) {
    const page = await show(dataOf(large(16, 20_000)), {
      width, height, dark, fragment: "#gantt=heat&tab=links",
    });
    const heat = page.locator(".rows canvas");
    await heat.scrollIntoViewIfNeeded();
    const box = (await heat.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    await page.locator(".under").getByText(/us to .* us: busy \d/).waitFor();
    await page.mouse.click(box.x + box.width / 2, box.y + 60);
    await page.locator("tr.selected").first().waitFor({ state: "attached" });
    await wait(page);
    await close(page, `heat-${width}-${dark}`);
  }
  const page = await show(dataOf(tree()), { fragment: "#gantt=heat&selection=node.16" });
  await close(page, "heat-tree");
});

test("a network without traffic has no time, and is coloured by bandwidth", async () => {
  const whole = ring();
  Object.assign(whole, { hops: null, critical: [], bins: binsOf(ringHops(8, 2e6, 0), 16, 1, 2e7) });
  whole.label = "the whole only";
  for (const run of [still(ring()), whole]) {
    const page = await show(dataOf(run));
    assert.equal(await page.locator(".play, .slider, .gantt").count(), 0);
    const names = ["Selection", "Links", "Nodes", "Why", "Waiting", "Arrivals", "Facts", "Links"];
    for (const name of names) {
      await tab(page, name);
      const words = await page.locator(".panel").innerText();
      assert.doesNotMatch(words, /\bnow\b|at 0 ps|undefined|NaN/);
    }
    await press(page, "ArrowRight", "ArrowLeft", " ", "w", "d", "f");
    assert.doesNotMatch(await page.getByLabel("colour by").innerText(), /moment|flight/);
    await download(page, "SVG");
    await close(page, run === whole ? "whole-1280" : "still-1280");
  }
});

test("on a phone a finger pans the network, which leaves room to scroll the page", async () => {
  const page = await show(dataOf(ring(), ring()), { width: 390, height: 844 });
  const tall = () => page.locator(".stages").evaluate((those) => those.clientHeight / innerHeight);
  assert.ok(await tall() <= 0.6);
  await page.getByLabel("side by side").check();
  assert.ok(await tall() <= 0.61);
  await page.waitForTimeout(1200);
  await close(page);
});
