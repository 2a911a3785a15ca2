// What is selected, followed: an NPU and its links, a link and its hops, a chunk and its arrivals.

import { useMemo } from "preact/hooks";
import { describe } from "../describe.ts";
import { group } from "../groups.ts";
import { busyShare, linksOf } from "../measure.ts";
import type { Page } from "../page.ts";
import { chunkBytes, type Hops, type Loaded } from "../run.ts";
import { useView } from "../state.ts";
import { numbers, Table, texts } from "../table.tsx";
import { share, size, time, whole } from "../words.ts";
import { Pairs } from "./facts.tsx";

export function Selected({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment, selection } = useView(page.store);
  if (selection === null) {
    return <p class="soft">Click a node or link, or choose a chunk, to follow it here.</p>;
  }
  const { hops, run } = loaded;
  const { kind, id } = selection;
  const facts: [string, string][] = kind !== "chunk" ? describe(loaded, selection, moment) : [
    ["bytes", size(chunkBytes(run, id))],
    ["begins at", loaded.nodeNames[run.chunks.source[id]] ?? "several nodes"],
  ];
  return (
    <>
      <h2 class="name">
        {kind === "chunk" ? `chunk ${whole(id)}` : facts[0][1]}
        <button onClick={() => page.store.select(null)}>let go</button>
      </h2>
      <Pairs rows={facts} />
      {kind === "node" && (
        <Table
          caption="Its links" rows={linksOf(loaded, selection)}
          pick={(link) => page.store.select({ kind: "link", id: link })}
          columns={[
            texts("link", (i) => loaded.linkNames[i]),
            numbers("busy", (i) => busyShare(loaded, i), share),
            numbers("bytes", (i) => run.network.links.bytes[i], size),
          ]}
        />
      )}
      {hops === null ? <p class="soft">The hops aren't in this page.</p>
        : kind !== "node" && (
          <HopTable
            key={`${kind} ${id}`} page={page} loaded={loaded} all={hops} arrivals={kind === "chunk"}
            hops={group(kind === "chunk" ? hops.byChunk : hops.byLink, id)}
          />
        )}
    </>
  );
}

interface HopProps { page: Page; loaded: Loaded; all: Hops; hops: Uint32Array; arrivals: boolean }

function HopTable({ page, loaded, all, hops, arrivals }: HopProps) {
  const { moment } = useView(page.store);
  const rows = useMemo(() => [...hops], [loaded]);
  const { to } = loaded.run.network.links;
  const arrived = rows.filter((hop) => all.end[hop] <= moment).length;
  const state = (hop: number) => (all.end[hop] <= moment ? 2 : all.start[hop] <= moment ? 1 : 0);
  return (
    <Table
      caption={`${arrivals ? "Arrivals" : "Hops"}: `
        + `${whole(arrived)} of ${whole(rows.length)} so far`}
      rows={rows} moment={moment} sort={[arrivals ? 2 : 1, false]}
      pick={(hop) => page.seek(all.start[hop])}
      columns={[
        arrivals ? texts("at", (hop) => loaded.nodeNames[to[all.link[hop]]])
          : numbers("chunk", (hop) => all.chunk[hop], whole),
        numbers("start", (hop) => all.start[hop], time),
        numbers("end", (hop) => all.end[hop], time),
        {
          title: "state", live: true, value: state,
          words: (hop) => (all.reduces[hop] === 1 ? "reduces" : "")
            + [" to come", " in flight", ""][state(hop)],
        },
      ]}
    />
  );
}
