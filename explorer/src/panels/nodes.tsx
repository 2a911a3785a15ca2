// The nodes at the present moment: what the drawing shows, as numbers.

import { useMemo } from "preact/hooks";
import { group } from "../groups.ts";
import { useView } from "../hooks.ts";
import { inFlight, timed } from "../measure.ts";
import { deadAt } from "../moments.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { type Column, Table } from "../table.tsx";
import { time, whole } from "../words.ts";

export function Nodes({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment, selection } = useView(page.store);
  const { nodes } = loaded.run.network;
  const dead = deadAt(loaded, moment);
  const flying = inFlight(loaded, moment);
  const sum = (links: Uint32Array) => links.reduce((total, link) => total + flying[link], 0);
  const rows = useMemo(() => [...loaded.nodeNames.keys()], [loaded]);
  const kind = (node: number) => (nodes.is_switch[node] === 1 ? "switch" : "NPU");
  const marks = (node: number) => [
    dead.node[node] === 1 ? "dead" : "", loaded.inCut[node] === 1 ? "in cut" : "",
  ].filter((mark) => mark !== "").join(", ");
  const out = (node: number) => sum(group(loaded.outgoing, node));
  const into = (node: number) => sum(group(loaded.incoming, node));
  return (
    <Table
      caption={timed(loaded) ? `Nodes at ${time(moment)}` : "Nodes"}
      rows={rows} moment={moment}
      selected={selection?.kind === "node" ? selection.id : null}
      pick={(node) => page.store.select({ kind: "node", id: node })}
      columns={([
        { title: "node", value: (i) => loaded.nodeNames[i], words: (i) => loaded.nodeNames[i] },
        { title: "kind", value: kind, words: kind },
        { title: "sending", value: out, words: (i) => whole(out(i)), live: true },
        { title: "receiving", value: into, words: (i) => whole(into(i)), live: true },
        { title: "mark", value: marks, words: marks },
      ] as Column[]).filter(({ live }) => !live || loaded.hops !== null)}
    />
  );
}
