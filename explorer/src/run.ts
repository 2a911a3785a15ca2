// A run, checked and unpacked: what everything else on the page reads.

import { decodeBytes, decodeColumn, demand } from "./decode.ts";
import { Flights } from "./flight.ts";
import type { Data, PackedHops, Run } from "./format.ts";
import { groupBy } from "./groups.ts";
import { shown } from "./words.ts";

export type Hops = Awaited<ReturnType<typeof unpackHops>>;
export type Loaded = Awaited<ReturnType<typeof loadRun>>;

/** The page's data; an error in words where they aren't what this page can show. */
export function readData(text: string): Data {
  let data: Data | null = null;
  try {
    data = JSON.parse(text) as Data;
  } catch {
    demand(false, "The page's data can't be read: they aren't JSON.");
  }
  demand(data?.format === "tutti-explore" && data.version === 2,
    "The page's data aren't of the format tutti-explore, version 2.");
  const { runs, results } = data as Data;
  demand(Array.isArray(runs) && (runs.length > 0 || results !== null),
    "The page's data hold no run and no result.");
  return data as Data;
}

function check({ network: { nodes, links, groups }, chunks, hops, critical }: Run) {
  const even = (columns: Record<string, number[] | string[]>, count: number, free: string[]) =>
    Object.entries(columns).every(([key, { length }]) => length === count || free.includes(key));
  demand(even({ ...nodes }, nodes.name.length, groups.length === 0 ? ["dead", "group"] : ["dead"]),
    "The columns of nodes differ in length.");
  demand(even({ ...links }, links.from.length, ["dead", "stubs"]),
    "The columns of links differ in length.");
  const exists = (i: number) => Number.isInteger(i) && i >= 0 && i < nodes.name.length;
  demand([...links.from, ...links.to].every(exists), "A link joins nodes that don't exist.");
  demand(nodes.group.every((g) => g === -1 || typeof groups[g] === "string"),
    "A node stands in a group that doesn't exist.");
  demand(chunks.source.every((node) => node === -1 || exists(node)),
    "A chunk begins at a node that doesn't exist.");
  demand(hops === null || critical.every((hop) => hop >= 0 && hop < hops.count),
    "The critical path has a hop that doesn't exist.");
}

async function unpackHops(packed: PackedHops, links: number, chunks: number) {
  const count = packed.count;
  const [start, end, link, chunk, transfer, reduces, arrives] = await Promise.all([
    decodeColumn(packed.start, new Float64Array(count), Infinity, "starts of hops"),
    decodeColumn(packed.duration, new Float64Array(count), Infinity, "durations of hops"),
    decodeColumn(packed.link, new Uint32Array(count), links, "links of hops"),
    decodeColumn(packed.chunk, new Uint32Array(count), chunks, "chunks of hops"),
    decodeColumn(packed.transfer, new Uint32Array(count), 2 ** 32, "transfers of hops"),
    decodeColumn(packed.reduces, new Uint8Array(count), 2, "reductions of hops"),
    decodeColumn(packed.arrives, new Uint8Array(count), 2, "arrivals of hops"),
  ]);
  for (let i = 0; i < count; i++) {
    if (i > 0 && start[i] < start[i - 1]) throw new Error("The hops aren't sorted by start.");
    end[i] += start[i];
  }
  return {
    count, start, end, link, chunk, transfer, reduces, arrives,
    flights: new Flights(start, end),
    byLink: groupBy(link, links),
    byChunk: groupBy(chunk, chunks),
  };
}

function nameLinks(run: Run): string[] {
  const { from, to } = run.network.links;
  const seen = new Map<string, number>();
  return from.map((a, link) => {
    const pair = `${a} ${to[link]}`;
    const before = seen.get(pair) ?? 0;
    seen.set(pair, before + 1);
    const names = [a, to[link]].map((node) => shown(run.network.nodes.name[node], 40));
    return `${names[0]} > ${names[1]}${before > 0 ? ` (${before + 1})` : ""}`;
  });
}

export async function loadRun(run: Run) {
  check(run);
  const links = run.network.links.from.length;
  const nodes = run.network.nodes.name.length;
  const [hops, bins] = await Promise.all([
    run.hops === null ? null : unpackHops(run.hops, links, run.chunks.count),
    decodeBytes(run.bins.share, links * run.bins.count, "shares of bins"),
  ]);
  // The number of busy links in each bin; in `bins`, links by bins, 255 is busy throughout.
  const traffic = new Float64Array(run.bins.count);
  for (let link = 0, i = 0; link < links; link++) {
    for (let bin = 0; bin < traffic.length; bin++, i++) traffic[bin] += bins[i] / 255;
  }
  // Where the clock ends.
  let length = Math.max(1, run.completion_ps);
  if (hops !== null) for (let i = 0; i < hops.count; i++) length = Math.max(length, hops.end[i]);
  for (const { at_ps: at } of run.moments) length = Math.max(length, at);
  // The hops of the critical path, and the links they cross; none where hops aren't here.
  const critical = new Set(hops === null ? [] : run.critical);
  return {
    run, hops, bins, traffic, links, nodes, length,
    linkNames: nameLinks(run),
    nodeNames: run.network.nodes.name.map((name) => shown(name, 40)),
    outgoing: groupBy(run.network.links.from, nodes),
    incoming: groupBy(run.network.links.to, nodes),
    inCut: Uint8Array.from(run.network.nodes.name, (_, node) => Number(run.cut.includes(node))),
    critical, criticalLinks: new Set([...critical].map((hop) => hops?.link[hop] ?? 0)),
  };
}

/** The bytes of one chunk. */
export const chunkBytes = (run: Run, chunk: number): number =>
  run.chunks.bytes.length === 1 ? run.chunks.bytes[0] : run.chunks.bytes[chunk];
