// What tests of pages share: a browser, pages made from made-up data, and that no page may say
// anything on the console or ask for anything over the network. Screenshots go to the folder
// SCREENSHOTS, where that is given.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import type { Data } from "../../src/format.ts";
import { pageOf } from "../made.ts";

export const template = readFileSync("dist/page.html", "utf8");
const folder = mkdtempSync(join(tmpdir(), "tutti-explorer-"));
const screenshots = process.env.SCREENSHOTS;
let browser: Browser;
let complaints: string[] = [];

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

export interface Options { width?: number; height?: number; dark?: boolean; fragment?: string }

export async function open(html: string, options: Options = {}): Promise<Page> {
  const { width = 1280, height = 800, dark = false, fragment = "" } = options;
  const page = await browser.newPage({
    viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true,
  });
  const file = join(folder, "page.html");
  writeFileSync(file, html);
  const address = pathToFileURL(file).href;
  complaints = [];
  page.on("console", (message) => complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  await page.route("**", (route) => {
    const url = route.request().url();
    if (url.split("#")[0] === address) return route.continue();
    complaints.push(`request: ${url.slice(0, 200)}`);
    return route.abort();
  });
  await page.goto(address + fragment);
  return page;
}

export async function show(
  data: Data, options: Options = {}, until = "canvas.network",
): Promise<Page> {
  const page = await open(pageOf(template, data), options);
  await page.waitForSelector(until);
  await page.waitForTimeout(200);
  return page;
}

/** The same without a rest, and how many milliseconds it took. */
export async function timed(
  data: Data, options: Options, until = "canvas.network",
): Promise<[Page, number]> {
  const began = performance.now();
  const page = await open(pageOf(template, data), options);
  await page.waitForSelector(until);
  await paints(page);
  return [page, performance.now() - began];
}

/** A screenshot, where somebody wants them. */
export async function picture(page: Page, name: string, fullPage = false) {
  if (screenshots === undefined) return;
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage });
}

export async function close(page: Page, name?: string) {
  if (name !== undefined) await picture(page, name, true);
  await page.close();
  assert.deepEqual(complaints, []);
}

/** The cells of the body of the table with this caption. */
export const cells = (page: Page, caption: string): Promise<string[][]> =>
  page.locator("table.numbers", { hasText: caption }).first().locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) =>
      [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")));

export async function tab(page: Page, ...names: string[]) {
  for (const name of names) await page.getByRole("tab", { name, exact: true }).first().click();
}

/** Presses the button and returns the text of the file that it saves. */
export async function download(page: Page, name: string): Promise<string> {
  const [saved] = await Promise.all([
    page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click(),
  ]);
  const path = join(screenshots ?? folder, saved.suggestedFilename());
  await saved.saveAs(path);
  return readFileSync(path, "utf8");
}

export const paints = (page: Page) => page.evaluate(() =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

export async function press(page: Page, ...keys: string[]) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Where a thing is on the page. */
export const boxOf = async (page: Page, what: string) =>
  (await page.locator(what).first().boundingBox())!;

/** What the address tells, which is written once a second. */
export async function fragmentOf(page: Page): Promise<URLSearchParams> {
  await page.waitForTimeout(1100);
  return new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
}

/** Nothing may be wider than the window. */
export async function fits(page: Page, width: number) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `${wide} pixels wide of ${width}`);
}

/** Widths and heights of windows, and whether they are dark. */
export const SIZES: [number, number, boolean][] = [
  [390, 844, false], [390, 844, true], [1280, 800, false], [1280, 800, true],
  [2560, 1440, false], [2560, 1440, true],
];
