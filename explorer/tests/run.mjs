// Runs the tests of a folder: bundles each to JavaScript and hands them to node's test runner, with
// what else is given: --test-name-pattern=failures

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2];
const out = mkdtempSync("node_modules/.tests-");
try {
  const tests = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: tests.map((name) => join(folder, name)),
    bundle: true,
    outdir: out,
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "node",
    packages: "external",
    logLevel: "warning",
  });
  const files = readdirSync(out).map((name) => join(out, name));
  const options = ["--test", "--test-concurrency=1", ...process.argv.slice(3), ...files];
  process.exitCode = spawnSync(process.execPath, options, { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
