// Made-up data: packs columns as the C++ program does, and makes runs small, hostile and large.

import { deflateRawSync } from "node:zlib";
import type { Column, Data, Run } from "../src/format.ts";

export function leb128(values: ArrayLike<number>): Uint8Array {
  const bytes: number[] = [];
  for (let value of Array.from(values)) {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  }
  return Uint8Array.from(bytes);
}

export const packed = (bytes: Uint8Array): string => deflateRawSync(bytes).toString("base64");

export function column(values: ArrayLike<number>, delta = false): Column {
  const differences = Array.from(values, (value, i) => value - (i > 0 ? values[i - 1] : 0));
  return { delta, data: packed(leb128(delta ? differences : values)) };
}

export interface Hop {
  start: number; duration: number; link: number; chunk: number; reduces?: boolean;
}

const endOf = (hops: Hop[]) =>
  hops.reduce((end, { start, duration }) => Math.max(end, start + duration), 0);
const upTo = (n: number) => [...Array(n).keys()];

/** Pseudo-random numbers, the same each time. */
export const randomly = (seed: number): (below: number) => number =>
  (below) => (seed = (seed * 48271) % 2147483647) % below;

export function packHops(hops: Hop[]): NonNullable<Run["hops"]> {
  const of = (f: (hop: Hop, i: number) => number, delta = false) => column(hops.map(f), delta);
  return {
    count: hops.length, total: hops.length, from_ps: 0, to_ps: endOf(hops),
    start: of((hop) => hop.start, true), duration: of((hop) => hop.duration),
    link: of((hop) => hop.link), chunk: of((hop) => hop.chunk), transfer: of((_, i) => i),
    reduces: of((hop) => Number(hop.reduces ?? false)), arrives: of(() => 1),
  };
}

export function binsOf(hops: Hop[], links: number, count: number, length: number): Run["bins"] {
  const width = Math.ceil(length / count);
  const busy = new Float64Array(links * count);
  for (const { start, duration, link } of hops) {
    const end = start + duration;
    for (let bin = Math.floor(start / width); bin < count && bin * width < end; bin++) {
      const inside = Math.min(end, (bin + 1) * width) - Math.max(start, bin * width);
      busy[link * count + bin] += inside / width;
    }
  }
  const bytes = Uint8Array.from(busy, (x) => Math.round(255 * Math.min(1, x)));
  return { count, width_ps: width, share: { data: packed(bytes) } };
}

interface Plan {
  label: string; x: number[]; y: number[];
  /** From node to node. */
  links: [number, number][];
  stubs?: number[]; hops: Hop[]; source: number[]; bytes: number;
}

function runOf({ label, x, y, links, stubs = [], hops, source, bytes }: Plan): Run {
  const completion = endOf(hops);
  const per = (f: (hop: Hop) => number) => {
    const sums = links.map(() => 0);
    for (const hop of hops) sums[hop.link] += f(hop);
    return sums;
  };
  return {
    label, command: `tutti run ${label}`,
    facts: [["time", `${completion / 1e6} us`], ["algorithm", label]],
    network: {
      name: "made up", aspect: 1, groups: [],
      nodes: {
        name: x.map((_, i) => `npu${i}`), is_switch: x.map(() => 0), x, y, dead: [], group: [],
      },
      links: {
        from: links.map(([a]) => a), to: links.map(([, b]) => b), dead: [], stubs,
        latency_ps: links.map(() => 500_000), bytes_per_s: links.map(() => 50e9),
        bytes: per(() => bytes), transfers: per(() => 1), busy_ps: per((hop) => hop.duration),
      },
    },
    chunks: { count: source.length, bytes: [bytes], source },
    completion_ps: completion, bound_ps: Math.round(completion * 0.8), bound_kind: "cut",
    cut: [0, 1, 2, 3].filter((node) => node < x.length / 2), hops: packHops(hops),
    bins: binsOf(hops, links.length, 128, completion), critical: [], moments: [],
  };
}

/** The hops of a ring All-Gather: in each step every NPU hands on the chunk it got last. */
export const ringHops = (n: number, step: number, pause: number): Hop[] =>
  upTo(n - 1).flatMap((s) => upTo(n).map((npu) =>
    ({ start: s * (step + pause), duration: step, link: npu, chunk: (npu - s + n) % n })));

/** A ring of n NPUs with links both ways; the All-Gather runs one way. */
export function ring(n = 8, pause = 250_000, label = "ring, all_gather 8 MiB"): Run {
  const nodes = upTo(n);
  const angle = (i: number) => (2 * Math.PI * i) / n - Math.PI / 2;
  const on = nodes.map((i): [number, number] => [i, (i + 1) % n]);
  const run = runOf({
    label, x: nodes.map((i) => 0.5 + 0.5 * Math.cos(angle(i))),
    y: nodes.map((i) => 0.5 + 0.5 * Math.sin(angle(i))),
    links: [...on, ...on.map(([a, b]): [number, number] => [b, a])],
    hops: ringHops(n, 2_000_000, pause), source: nodes, bytes: 2 ** 20,
  });
  // Chunk 0 goes all the way round.
  run.critical = nodes.slice(0, n - 1).map((s) => s * n + s);
  run.network.links.dead = [2 * n - 1];
  return run;
}

/** A torus of `side` by `side` NPUs with `count` hops at random, in ascending order. */
export function large(side: number, count: number): Run {
  const nodes = upTo(side * side);
  const [links, stubs]: [[number, number][], number[]] = [[], []];
  for (const node of nodes) {
    const [row, at] = [Math.floor(node / side), node % side];
    for (const next of [row * side + ((at + 1) % side), ((row + 1) % side) * side + at]) {
      if (next < node) stubs.push(links.length, links.length + 1);
      links.push([node, next], [next, node]);
    }
  }
  const random = randomly(1);
  return runOf({
    label: `torus, ${count} hops`, links, stubs, bytes: 65536,
    x: nodes.map((i) => (i % side) / (side - 1)),
    y: nodes.map((i) => Math.floor(i / side) / (side - 1)),
    hops: upTo(count).map((i) => ({
      start: Math.floor((i / count) * 1e9), duration: 200_000 + random(1_000_000),
      link: random(links.length), chunk: random(nodes.length * 4), reduces: i < count / 2,
    })),
    source: upTo(nodes.length * 4).map((i) => i >> 2),
  });
}

/** The same in blocks of 8 by 8, as large networks are folded. */
export function blocks(side: number, count: number): Run {
  const run = large(side, count);
  const across = Math.ceil(side / 8);
  run.network.nodes.group = run.network.nodes.name.map((_, i) =>
    Math.floor(i / side / 8) * across + Math.floor((i % side) / 8));
  run.network.groups = upTo(across * across).map((i) => `block ${i}`);
  return run;
}

/** A ring on which a link fails and a repair brings it back. */
export function failing(): Run {
  const nothing = { links_down: [], links_up: [], nodes_down: [] };
  return {
    ...ring(),
    moments: [
      { ...nothing, at_ps: 3_100_000, words: "npu3>npu4 fails", links_down: [3] },
      { ...nothing, at_ps: 7_000_000, words: "npu3>npu4 is mended", links_up: [3] },
      { ...nothing, at_ps: 9_300_000, words: "npu6 fails", nodes_down: [6] },
    ],
  };
}

/** Only a network: nothing is sent on it. */
export function still(run: Run): Run {
  const { links } = run.network;
  const none = links.from.map(() => 0);
  Object.assign(links, { bytes: none, transfers: none, busy_ps: none });
  links.bytes_per_s = links.from.map((_, i) => (1 + (i % 4)) * 25e9);
  Object.assign(run, { hops: null, critical: [], completion_ps: 0, bound_ps: null, cut: [] });
  return { ...run, bins: binsOf([], none.length, 1, 1) };
}

/** Sixteen NPUs beneath four switches, with two links each way to both of two more switches. */
export function tree(): Run {
  const nodes = upTo(22);
  const pairs = [
    ...upTo(16).map((npu) => [npu, 16 + (npu >> 2)]),
    ...[16, 17, 18, 19].flatMap((leaf) => [20, 20, 21, 21].map((top) => [leaf, top])),
  ];
  const links = pairs.flatMap(([a, b]): [number, number][] => [[a, b], [b, a]]);
  const run = runOf({
    label: "tree, all_reduce 64 MiB", links, source: Array(64).fill(-1), bytes: 2 ** 20,
    x: nodes.map((i) =>
      (i < 16 ? i / 15 : i < 20 ? (4 * (i - 16) + 1.5) / 15 : i === 20 ? 0.3 : 0.7)),
    y: nodes.map((i) => (i < 16 ? 1 : i < 20 ? 0.5 : 0)),
    hops: upTo(600).map((i) => ({
      start: i * 20_000, duration: 300_000 + (i % 7) * 90_000, link: (i * 37) % links.length,
      chunk: i % 64,
    })),
  });
  run.network.aspect = 0.5;
  run.network.nodes.name = nodes.map((i) =>
    (i < 16 ? `npu${i}` : i < 20 ? `leaf${i - 16}` : `top${i - 20}`));
  run.network.nodes.is_switch = nodes.map((i) => Number(i >= 16));
  run.hops!.total = 5000;
  return run;
}

export const EVIL = [
  "<script>document.title = 'broken'</script>",
  "<img src=x onerror=\"document.title='broken'\">",
  "\u202egnorw\u202c\u2067right to left",
  "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
  "x".repeat(10_000),
  "\"quotes' &amp; </script><!--",
  "\ud83d\ude00 \ud800 lone",
  "line\nbreak\u0000\ttab",
];

/** A ring all of whose names are hostile. */
export function hostile(): Run {
  const run = ring(8, 0, EVIL[0]);
  run.network.nodes.name = EVIL;
  run.network.name = EVIL[1];
  run.network.nodes.is_switch[4] = 1;
  run.network.nodes.dead = [6];
  const facts = EVIL.map((name, i): [string, string] => [name, EVIL[(i + 4) % EVIL.length]]);
  return { ...run, command: EVIL.join(" "), bound_kind: EVIL[5], facts };
}

export const dataOf = (...runs: Run[]): Data => ({
  format: "tutti-explore", version: 2, title: runs[0].label, command: "tutti", runs, results: null,
});

/** The page that C++ would write. */
export function pageOf(template: string, data: Data): string {
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  const script = `<script id="tutti-data" type="application/json">${json}</script>`;
  return template.replace("<!--TUTTI-DATA-->", () => script);
}
