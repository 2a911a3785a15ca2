// The links and the nodes at the present moment: what the drawing shows, as numbers.

import { useMemo } from "preact/hooks";
import { marksOfNode, sendingOf } from "../describe.ts";
import { busyNow, busyShare, inFlight, quiet, timed } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { useView } from "../state.ts";
import { numbers, Table, texts } from "../table.tsx";
import { rate, share, size, time, whole } from "../words.ts";

interface Props { page: Page; loaded: Loaded }

export function Links({ page, loaded }: Props) {
  const { moment, selection } = useView(page.store);
  const { links } = loaded.run.network;
  const flying = inFlight(loaded, moment);
  const rows = useMemo(() => [...loaded.linkNames.keys()], [loaded]);
  const columns = [texts("link", (i) => loaded.linkNames[i])];
  if (quiet(loaded)) {
    columns.push(numbers("bandwidth", (i) => links.bytes_per_s[i], rate));
    columns.push(numbers("latency", (i) => links.latency_ps[i], time));
  } else {
    columns.push(numbers("busy", (i) => busyShare(loaded, i), share));
    columns.push(numbers("bytes", (i) => links.bytes[i], size));
    columns.push(numbers("transfers", (i) => links.transfers[i], whole));
  }
  if (timed(loaded)) {
    columns.push(numbers("busy now", (i) => busyNow(loaded, i, moment), share, true));
  }
  if (loaded.hops !== null) columns.push(numbers("in flight", (i) => flying[i], whole, true));
  return (
    <Table
      caption={timed(loaded) ? `Links at ${time(moment)}` : "Links"} columns={columns}
      rows={rows} moment={moment} sort={[1, true]}
      selected={selection?.kind === "link" ? selection.id : null}
      pick={(id) => page.store.select({ kind: "link", id })}
    />
  );
}

export function Nodes({ page, loaded }: Props) {
  const { moment, selection } = useView(page.store);
  const rows = useMemo(() => [...loaded.nodeNames.keys()], [loaded]);
  const sending = sendingOf(loaded, moment);
  const columns = [
    texts("node", (i) => loaded.nodeNames[i]),
    texts("kind", (i) => (loaded.run.network.nodes.is_switch[i] === 1 ? "switch" : "NPU")),
    numbers("sending", (i) => sending(loaded.outgoing, i), whole, true),
    numbers("receiving", (i) => sending(loaded.incoming, i), whole, true),
    texts("mark", (i) => marksOfNode(loaded, i, moment)),
  ];
  return (
    <Table
      caption={timed(loaded) ? `Nodes at ${time(moment)}` : "Nodes"} rows={rows} moment={moment}
      columns={columns.filter(({ live }) => !live || loaded.hops !== null)}
      selected={selection?.kind === "node" ? selection.id : null}
      pick={(id) => page.store.select({ kind: "node", id })}
    />
  );
}
