// Makes dist/page.html, the template that the C++ program puts data into.
//
// Script and style are bundled, put inline, and named by their hashes in the page's Content
// Security Policy, so that nothing else can run. The same sources give the same bytes.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const LARGEST = 250_000;
const PLACEHOLDER = "<!--TUTTI-DATA-->";

const UNUSED = ["d3-interpolate", "d3-transition"];

const libraries = new Set();

async function bundle(entry) {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
    alias: Object.fromEntries(UNUSED.map((name) => [name, "./src/unused.ts"])),
  });
  for (const input of Object.keys(result.metafile.inputs)) {
    const library = /^node_modules\/((@[^/]+\/)?[^/]+)/.exec(input)?.[1];
    if (library !== undefined) libraries.add(library);
  }
  return result.outputFiles[0].text.trim();
}

/** The licences of the libraries inside the bundle, each text once. */
function licences() {
  const texts = new Map();
  for (const library of [...libraries].sort()) {
    const file = `node_modules/${library}/LICENSE`;
    if (!existsSync(file)) throw new Error(`${library} has no licence.`);
    const text = readFileSync(file, "utf8").trim().replaceAll("-->", "");
    texts.set(text, [...(texts.get(text) ?? []), library]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}:\n${text}`).join("\n\n");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const [script, style] = await Promise.all([bundle("src/main.tsx"), bundle("src/style.css")]);
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { POLICY: policy, STYLE: style, SCRIPT: script, LICENCES: licences() };
const page = readFileSync("src/shell.html", "utf8")
  .replace(/@(POLICY|STYLE|SCRIPT|LICENCES)@/g, (_, part) => parts[part]);

if (page.split(PLACEHOLDER).length !== 2) {
  throw new Error(`${PLACEHOLDER} must occur exactly once.`);
}
if (Buffer.byteLength(page) > LARGEST) {
  throw new Error(`The page has ${Buffer.byteLength(page)} bytes; ${LARGEST} are allowed.`);
}
mkdirSync("dist", { recursive: true });
writeFileSync("dist/page.html", page);
console.log(`dist/page.html: ${Buffer.byteLength(page)} bytes`);
