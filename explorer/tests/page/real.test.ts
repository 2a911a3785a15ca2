// Pages that the program itself writes, of every kind: what tables and canvas show is what the
// command answers as JSON. Skipped where TUTTI names no program.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { close, open, tab } from "./browser.ts";

const tutti = process.env.TUTTI ?? "";
const folder = mkdtempSync(join(tmpdir(), "tutti-real-"));
after(() => rmSync(folder, { recursive: true }));

type Row = Record<string, string | number | boolean | null>;
const run = (words: string) => execFileSync(tutti, words.split(" "), {
  cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"],
});
const answer = (words: string): Row[] => JSON.parse(run(`${words} --json`)).runs;
const load = (file = "page.html") => open(readFileSync(join(folder, file), "utf8"));

/** "399.5 us" as picoseconds, "1 MiB" as bytes, "49.2 GB/s", "93.2 %", "1.053". */
function read(text: string): number {
  const units: Record<string, number> = {
    "": 1, "%": 0.01, ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12, B: 1, KiB: 2 ** 10, MiB: 2 ** 20,
    GiB: 2 ** 30, "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12,
  };
  const [, number, unit] = /^([-\d.,e+]+) ?(\S*)$/.exec(text) ?? [];
  assert.ok(unit in units, `${text} is no quantity`);
  return Number(number.replaceAll(",", "")) * units[unit];
}

/** The column of the shown table with this title, top to bottom. */
async function column(page: Page, title: string): Promise<string[]> {
  const table = page.locator("table.numbers").first();
  await table.waitFor();
  const titles = (await table.locator("thead td, thead th").allTextContents())
    .map((text) => text.replace(/ [\u25b4\u25be]$/, ""));
  const at = titles.indexOf(title);
  assert.ok(at >= 0, `${title} isn't one of ${titles}`);
  return table.locator("tbody tr").evaluateAll((rows, i) =>
    rows.map((row) => row.querySelectorAll("td")[i]?.textContent ?? ""), at);
}

/** The column has what the answer's rows have under this name, to the digits that it shows. */
async function agrees(page: Page, title: string, rows: Row[], name: string) {
  const shown = await column(page, title);
  assert.equal(shown.length, rows.length);
  rows.forEach((row, i) => {
    const value = row[name];
    if (value === null) assert.equal(shown[i], "");
    else if (typeof value !== "number") assert.equal(shown[i], String(value));
    else {
      const digits = Math.max(6e-3 * Math.abs(value), shown[i].endsWith("%") ? 6e-4 : 0);
      assert.ok(Math.abs(read(shown[i]) - value) <= digits, shown[i]);
    }
  });
}

/** Something is drawn: the first canvas has some different colours. */
async function isDrawn(page: Page) {
  await page.waitForSelector("canvas");
  await page.waitForTimeout(300);
  const colours = await page.locator("canvas").first().evaluate((canvas: HTMLCanvasElement) => {
    const { data } = (canvas.getContext("2d") as CanvasRenderingContext2D)
      .getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  assert.ok(colours > 5, `${colours} colours`);
}

const fact = (page: Page, name: string) =>
  page.locator("tr", { has: page.getByRole("rowheader", { name, exact: true }) }).first()
    .locator("td").first().textContent();

/** The network plays a run that takes as long. */
async function plays(page: Page, time: number) {
  await isDrawn(page);
  await tab(page, "Facts");
  assert.ok(Math.abs(read(await fact(page, "completion") ?? "") - time) <= 1e-3 * time);
  await tab(page, "Links");
  const bytes = (await column(page, "bytes")).map(read);
  assert.ok(bytes.some((count) => count > 0));
}

const ring = "-t ring:4 -c all_gather --size 1MiB";
const real = (name: string, body: () => Promise<void>) =>
  test(`real files: ${name}`, { skip: tutti === "" && "TUTTI names no program" }, body);

real("synth, replay and explore of schedules", async () => {
  const [row] = answer(`synth ${ring} -a tacos -o s.tutti --explore page.html`);
  run("replay -t ring:4 s.tutti --explore replay.html");
  run("explore -t ring:4 s.tutti -o both.html");
  for (const file of ["page.html", "replay.html", "both.html"]) {
    const page = await load(file);
    await plays(page, row.collective_time_ps as number);
    await close(page);
  }
});

real("import", async () => {
  run(`synth ${ring} -a ring -o r.tutti`);
  run("lower -t ring:4 r.tutti -o p.xml");
  const [row] = answer("import -t ring:4 p.xml --size 1MiB --discipline fifo --explore page.html");
  const page = await load();
  await plays(page, row.collective_time_ps as number);
  await close(page);
});

real("failures", async () => {
  const rows = answer(`failures ${ring} -a tacos --event at=40%,link_down=npu0>npu1 `
    + "--detection 1us --decision 1us --explore page.html");
  const page = await load();
  await agrees(page, "policy", rows, "policy");
  await agrees(page, "collective time", rows, "collective_time_ps");
  const last = rows.length - 1;
  await page.getByRole("button", { name: "open the network" }).nth(last).click();
  await plays(page, rows[last].collective_time_ps as number);
  await tab(page, "Why");
  await page.getByText("npu0>npu1 down").first().waitFor();
  await close(page, "real-failures");
});

real("jobs", async () => {
  writeFileSync(join(folder, "jobs.toml"), "algorithms = [\"ring\", \"tacos\"]\n"
    + "[[job]]\nname = \"a\"\ncollective = \"all_reduce\"\nsize = \"1MiB\"\n"
    + "[[job]]\nname = \"b\"\ncollective = \"all_gather\"\nsize = \"1MiB\"\n");
  const rows = answer("jobs -t torus2d:4x4 jobs.toml --explore page.html");
  const page = await load();
  await agrees(page, "job", rows, "job");
  await agrees(page, "slowdown", rows, "slowdown");
  await close(page, "real-jobs");
});

real("train", async () => {
  const rows = answer("train -t ring:4 --model resnet50 --npu v100 -a ring,direct --cache none "
    + "--explore page.html");
  const page = await load();
  await agrees(page, "iteration", rows, "iteration_time_ps");
  await agrees(page, "exposed fraction", rows, "exposed_fraction");
  await isDrawn(page);
  await page.getByRole("tab", { name: "timelines" }).click();
  await isDrawn(page);
  await close(page, "real-train");
});

real("compare", async () => {
  writeFileSync(join(folder, "log"),
    "# size count type redop root time algbw busbw #wrong\n"
    + [[20, 60, 17, 15], [22, 90, 46, 40], [24, 160, 104, 91]].map(([power, us, algbw, busbw]) =>
      `${2 ** power} ${2 ** power / 4} float sum -1 ${us} ${algbw} ${busbw} 0\n`).join(""));
  const rows = answer("compare -t dgx_h100 log -c all_gather --cache none --explore page.html");
  const page = await load();
  await agrees(page, "predicted", rows, "predicted_time_ps");
  await agrees(page, "ratio", rows, "predicted_over_measured");
  await isDrawn(page);
  await close(page, "real-compare");
});

real("frontier", async () => {
  const rows = answer("frontier -t ring:4 -c all_gather --explore page.html");
  const page = await load();
  await agrees(page, "collective time", rows, "collective_time_ps");
  await close(page, "real-frontier");
});

real("run, with a verdict, and explore of its folder", async () => {
  writeFileSync(join(folder, "e.toml"), "name = \"e\"\ntitle = \"e\"\n[topologies]\n"
    + "R = \"ring:4\"\n[[runs]]\ncollectives = [\"all_gather\"]\nsizes = [\"1MiB\", \"4MiB\"]\n"
    + "algorithms = [\"ring\", \"tacos\"]\n[[expect]]\nlabel = \"row\"\n"
    + "of = {size = \"1MiB\", algorithm = \"ring\"}\nmetric = \"gap\"\nvalue = 9\n"
    + "tolerance = \"1%\"\nours = 2\nours_tolerance = \"99%\"\nexplanation = \"since <so>\"\n");
  run("run e.toml");
  run("explore out/e -o folder.html");
  const { runs } = JSON.parse(readFileSync(join(folder, "out/e/results.json"), "utf8"));
  for (const file of ["out/e/index.html", "folder.html"]) {
    const page = await load(file);
    assert.match((await column(page, "verdict"))[0], /differs/);
    await page.locator("table.numbers tbody tr").first().click();
    await page.getByText("since <so>").first().waitFor();
    await tab(page, "results");
    await agrees(page, "collective time", runs, "collective_time_ps");
    await agrees(page, "algbw", runs, "algbw_bytes_per_s");
    await close(page, "real-run");
  }
});

real("sweep, and explore of its store", async () => {
  writeFileSync(join(folder, "w.toml"), "name = \"w\"\n[parameters]\nn = [3, 4]\n"
    + "a = [\"ring\", \"direct\"]\n[objectives]\ntime = \"collective_time_s\"\n[experiment]\n"
    + "topologies = {T = \"ring:${n}\"}\n[[experiment.runs]]\ncollectives = [\"all_gather\"]\n"
    + "sizes = [\"1MiB\"]\nalgorithms = [\"${a}\"]\n");
  run("sweep w.toml --cache none");
  run("explore out/w/sweep.sqlite -o store.html");
  const points = readFileSync(join(folder, "out/w/points.csv"), "utf8").trim().split("\n");
  for (const file of ["out/w/index.html", "store.html"]) {
    const page = await load(file);
    await tab(page, "points");
    assert.deepEqual(await column(page, "n"), points.slice(1).map((line) => line.split(",")[0]));
    await page.getByRole("button", { name: "open the network" }).first().click();
    await isDrawn(page);
    await close(page, "real-sweep");
  }
});
