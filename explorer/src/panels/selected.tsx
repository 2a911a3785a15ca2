// What is selected, followed: an NPU and its links, a link and its hops, a chunk and its arrivals.

import { useMemo } from "preact/hooks";
import { group } from "../groups.ts";
import { useView } from "../hooks.ts";
import { busyShare } from "../measure.ts";
import type { Page } from "../page.ts";
import { chunkBytes, type Loaded } from "../run.ts";
import { describe } from "../describe.ts";
import { Table } from "../table.tsx";
import { share, size, time, whole } from "../words.ts";
import { Pairs } from "./pairs.tsx";

export function Selected({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment, selection } = useView(page.store);
  if (selection === null) {
    return <p class="soft">Click a node or link, or choose a chunk, to follow it here.</p>;
  }
  const { hops, run } = loaded;
  const { kind, id } = selection;
  const linksOfNode = kind === "node"
    ? [...group(loaded.outgoing, id), ...group(loaded.incoming, id)] : [];
  return (
    <>
      <h2 class="name">
        {kind === "chunk" ? `chunk ${whole(id)}` : describe(loaded, selection, moment)[0][1]}
        <button type="button" onClick={() => page.store.select(null)}>let go</button>
      </h2>
      {kind !== "chunk" && <Pairs rows={describe(loaded, selection, moment)} />}
      {kind === "node" && (
        <Table
          caption="Its links" rows={linksOfNode}
          pick={(link) => page.store.select({ kind: "link", id: link })}
          columns={[
            { title: "link", value: (i) => loaded.linkNames[i], words: (i) => loaded.linkNames[i] },
            {
              title: "busy",
              value: (i) => busyShare(loaded, i),
              words: (i) => share(busyShare(loaded, i)),
            },
            {
              title: "bytes",
              value: (i) => run.network.links.bytes[i],
              words: (i) => size(run.network.links.bytes[i]),
            },
          ]}
        />
      )}
      {kind === "chunk" && (
        <Pairs
          rows={[
            ["bytes", size(chunkBytes(run, id))],
            ["begins at", loaded.nodeNames[run.chunks.source[id]] ?? "several nodes"],
          ]}
        />
      )}
      {hops === null && <p class="soft">The hops aren't in this page.</p>}
      {hops !== null && kind === "chunk" && (
        <HopTable page={page} loaded={loaded} caption="Arrivals" hops={group(hops.byChunk, id)} />
      )}
      {hops !== null && kind === "link" && (
        <HopTable page={page} loaded={loaded} caption="Hops" hops={group(hops.byLink, id)} />
      )}
    </>
  );
}

function HopTable(props: { page: Page; loaded: Loaded; caption: string; hops: Uint32Array }) {
  const { page, loaded, caption, hops } = props;
  const { moment } = useView(page.store);
  const all = loaded.hops;
  const rows = useMemo(() => [...hops], [hops.byteOffset, hops.length, loaded]);
  if (all === null) return <></>;
  const { to } = loaded.run.network.links;
  const arrived = rows.filter((hop) => all.end[hop] <= moment).length;
  const node = (hop: number) => loaded.nodeNames[to[all.link[hop]]];
  const byChunk = caption === "Arrivals";
  return (
    <Table
      key={`${caption} ${hops.byteOffset}`}
      caption={`${caption}: ${whole(arrived)} of ${whole(rows.length)} so far`}
      rows={rows} moment={moment} sort={[byChunk ? 2 : 1, false]}
      pick={(hop) => page.seek(all.start[hop])}
      columns={[
        byChunk
          ? { title: "at", value: node, words: node }
          : { title: "chunk", value: (i) => all.chunk[i], words: (i) => whole(all.chunk[i]) },
        { title: "start", value: (i) => all.start[i], words: (i) => time(all.start[i]) },
        { title: "end", value: (i) => all.end[i], words: (i) => time(all.end[i]) },
        {
          title: "state",
          live: true,
          value: (i) => (all.end[i] <= moment ? 2 : all.start[i] <= moment ? 1 : 0),
          words: (i) => (all.reduces[i] === 1 ? "reduces" : "")
            + (all.end[i] <= moment ? "" : all.start[i] <= moment ? " in flight" : " to come"),
        },
      ]}
    />
  );
}
