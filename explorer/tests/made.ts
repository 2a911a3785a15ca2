// Made-up data: packs columns as the C++ program does, and makes runs small, hostile and large.

import { deflateRawSync } from "node:zlib";
import type { Bytes, Column, Data, Run } from "../src/format.ts";

export function leb128(values: ArrayLike<number>): Uint8Array {
  const bytes: number[] = [];
  for (let i = 0; i < values.length; i++) {
    let value = values[i];
    while (value >= 128) {
      bytes.push((value % 128) + 128);
      value = Math.floor(value / 128);
    }
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
  start: number;
  duration: number;
  link: number;
  chunk: number;
  reduces?: boolean;
}

export function packHops(hops: Hop[]): NonNullable<Run["hops"]> {
  return {
    count: hops.length,
    total: hops.length,
    from_ps: 0,
    to_ps: hops.reduce((end, hop) => Math.max(end, hop.start + hop.duration), 0),
    start: column(hops.map((hop) => hop.start), true),
    duration: column(hops.map((hop) => hop.duration)),
    link: column(hops.map((hop) => hop.link)),
    chunk: column(hops.map((hop) => hop.chunk)),
    transfer: column(hops.map((_, i) => i)),
    reduces: column(hops.map((hop) => Number(hop.reduces ?? false))),
    arrives: column(hops.map(() => 1)),
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
  const share: Bytes = {
    data: packed(Uint8Array.from(busy, (x) => Math.round(255 * Math.min(1, x)))),
  };
  return { count, width_ps: width, share };
}

interface Plan {
  label: string;
  names: string[];
  x: number[];
  y: number[];
  aspect: number;
  from: number[];
  to: number[];
  stubs?: number[];
  hops: Hop[];
  source: number[];
  bytes: number;
}

function runOf(plan: Plan): Run {
  const { hops, from, names } = plan;
  const completion = hops.reduce((end, hop) => Math.max(end, hop.start + hop.duration), 0);
  const per = (f: (hop: Hop) => number) => {
    const sums = from.map(() => 0);
    for (const hop of hops) sums[hop.link] += f(hop);
    return sums;
  };
  return {
    label: plan.label,
    command: `tutti run ${plan.label}`,
    facts: [["time", `${completion / 1e6} us`], ["algorithm", plan.label]],
    network: {
      name: "made up",
      aspect: plan.aspect,
      nodes: {
        name: names, is_switch: names.map(() => 0), x: plan.x, y: plan.y, dead: [],
        group: [],
      },
      groups: [],
      links: {
        from, to: plan.to, latency_ps: from.map(() => 500_000),
        bytes_per_s: from.map(() => 50e9), dead: [], stubs: plan.stubs ?? [],
        bytes: per(() => plan.bytes), transfers: per(() => 1), busy_ps: per((hop) => hop.duration),
      },
    },
    chunks: { count: plan.source.length, bytes: [plan.bytes], source: plan.source },
    completion_ps: completion,
    bound_ps: Math.round(completion * 0.8),
    bound_kind: "cut",
    cut: [0, 1, 2, 3].filter((node) => node < names.length / 2),
    hops: packHops(hops),
    bins: binsOf(hops, from.length, 128, completion),
    critical: [],
    moments: [],
  };
}

/** The hops of a ring All-Gather: in each step every NPU hands on the chunk it got last. */
export function ringHops(n: number, step: number, pause: number): Hop[] {
  const hops: Hop[] = [];
  for (let s = 0; s < n - 1; s++) {
    for (let npu = 0; npu < n; npu++) {
      const chunk = (npu - s + n) % n;
      hops.push({ start: s * (step + pause), duration: step, link: npu, chunk });
    }
  }
  return hops;
}

/** A ring of n NPUs with links both ways; the All-Gather runs one way. */
export function ring(n = 8, pause = 250_000, label = "ring, all_gather 8 MiB"): Run {
  const nodes = [...Array(n).keys()];
  const angle = (i: number) => (2 * Math.PI * i) / n - Math.PI / 2;
  const run = runOf({
    label,
    names: nodes.map((i) => `npu${i}`),
    x: nodes.map((i) => 0.5 + 0.5 * Math.cos(angle(i))),
    y: nodes.map((i) => 0.5 + 0.5 * Math.sin(angle(i))),
    aspect: 1,
    from: [...nodes, ...nodes.map((i) => (i + 1) % n)],
    to: [...nodes.map((i) => (i + 1) % n), ...nodes],
    hops: ringHops(n, 2_000_000, pause),
    source: nodes,
    bytes: 2 ** 20,
  });
  // Chunk 0 goes all the way round.
  run.critical = nodes.slice(0, n - 1).map((s) => s * n + s);
  run.network.links.dead = [2 * n - 1];
  return run;
}

/** A torus of `side` by `side` NPUs with `count` hops at random, seeded, in ascending order. */
export function large(side: number, count: number): Run {
  const nodes = [...Array(side * side).keys()];
  const from: number[] = [];
  const to: number[] = [];
  const stubs: number[] = [];
  for (const node of nodes) {
    const [row, at] = [Math.floor(node / side), node % side];
    for (const next of [row * side + ((at + 1) % side), ((row + 1) % side) * side + at]) {
      if (next < node) stubs.push(from.length, from.length + 1);
      from.push(node, next);
      to.push(next, node);
    }
  }
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const hops: Hop[] = [];
  for (let i = 0; i < count; i++) {
    hops.push({
      start: Math.floor((i / count) * 1e9),
      duration: 200_000 + random(1_000_000),
      link: random(from.length),
      chunk: random(nodes.length * 4),
      reduces: i < count / 2,
    });
  }
  return runOf({
    label: `torus, ${count} hops`,
    names: nodes.map((i) => `npu${i}`),
    x: nodes.map((i) => (i % side) / (side - 1)),
    y: nodes.map((i) => Math.floor(i / side) / (side - 1)),
    aspect: 1, from, to, stubs, hops,
    source: [...Array(nodes.length * 4).keys()].map((i) => i >> 2),
    bytes: 65536,
  });
}

/** The same in blocks of 8 by 8, as large networks are folded. */
export function blocks(side: number, count: number): Run {
  const run = large(side, count);
  const across = Math.ceil(side / 8);
  run.network.nodes.group = run.network.nodes.name.map((_, i) =>
    Math.floor(i / side / 8) * across + Math.floor((i % side) / 8));
  run.network.groups = [...Array(across * across).keys()].map((i) => `block ${i}`);
  return run;
}

/** A ring on which a link fails and a repair brings it back. */
export function failing(): Run {
  const run = ring();
  const nothing = { links_down: [], links_up: [], nodes_down: [] };
  run.moments = [
    { ...nothing, at_ps: 3_100_000, words: "npu3>npu4 fails", links_down: [3] },
    { ...nothing, at_ps: 7_000_000, words: "npu3>npu4 is mended", links_up: [3] },
    { ...nothing, at_ps: 9_300_000, words: "npu6 fails", nodes_down: [6] },
  ];
  return run;
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
  const from: number[] = [];
  const to: number[] = [];
  const join = (a: number, b: number) => {
    from.push(a, b);
    to.push(b, a);
  };
  for (let npu = 0; npu < 16; npu++) join(npu, 16 + (npu >> 2));
  for (let leaf = 16; leaf < 20; leaf++) {
    for (const top of [20, 20, 21, 21]) join(leaf, top);
  }
  const names = [...Array(22).keys()].map((i) =>
    i < 16 ? `npu${i}` : i < 20 ? `leaf${i - 16}` : `top${i - 20}`);
  const hops: Hop[] = [];
  for (let i = 0; i < 600; i++) {
    const link = (i * 37) % from.length;
    hops.push({ start: i * 20_000, duration: 300_000 + (i % 7) * 90_000, link, chunk: i % 64 });
  }
  const run = runOf({
    label: "tree, all_reduce 64 MiB", names, from, to, hops, aspect: 0.5,
    x: names.map((_, i) =>
      i < 16 ? i / 15 : i < 20 ? (4 * (i - 16) + 1.5) / 15 : i === 20 ? 0.3 : 0.7),
    y: names.map((_, i) => (i < 16 ? 1 : i < 20 ? 0.5 : 0)),
    source: Array(64).fill(-1),
    bytes: 2 ** 20,
  });
  run.network.nodes.is_switch = names.map((_, i) => Number(i >= 16));
  run.hops!.total = 5000;
  return run;
}

const EVIL = [
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
  run.command = EVIL.join(" ");
  run.bound_kind = EVIL[5];
  run.facts = EVIL.map((name, i) => [name, EVIL[(i + 4) % EVIL.length]]);
  run.network.nodes.is_switch[4] = 1;
  run.network.nodes.dead = [6];
  return run;
}

export function dataOf(...runs: Run[]): Data {
  return { format: "tutti-explore", version: 2, title: runs[0].label, command: "tutti", runs,
    results: null };
}

/** The page that C++ would write. */
export function pageOf(template: string, data: Data): string {
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  const script = `<script id="tutti-data" type="application/json">${json}</script>`;
  return template.replace("<!--TUTTI-DATA-->", () => script);
}
