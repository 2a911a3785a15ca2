// The links at the present moment: what the drawing shows, as numbers.

import { useMemo } from "preact/hooks";
import { useView } from "../hooks.ts";
import { busyNow, busyShare, inFlight, quiet, timed } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { type Column, Table } from "../table.tsx";
import { rate, share, size, time, whole } from "../words.ts";

export function Links({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment, selection } = useView(page.store);
  const { links } = loaded.run.network;
  const flying = inFlight(loaded, moment);
  const rows = useMemo(() => [...loaded.linkNames.keys()], [loaded]);
  const now = (link: number) => busyNow(loaded, link, moment);
  const all = (link: number) => busyShare(loaded, link);
  const columns: Column[] = [
    { title: "link", value: (i) => loaded.linkNames[i], words: (i) => loaded.linkNames[i] },
  ];
  const add = (title: string, value: (i: number) => number, words: (x: number) => string,
    live = false) => columns.push({ title, value, words: (i) => words(value(i)), live });
  if (quiet(loaded)) {
    add("bandwidth", (i) => links.bytes_per_s[i], rate);
    add("latency", (i) => links.latency_ps[i], time);
  } else {
    add("busy", all, share);
    add("bytes", (i) => links.bytes[i], size);
    add("transfers", (i) => links.transfers[i], whole);
  }
  if (timed(loaded)) add("busy now", now, share, true);
  if (loaded.hops !== null) add("in flight", (i) => flying[i], whole, true);
  return (
    <Table
      caption={timed(loaded) ? `Links at ${time(moment)}` : "Links"}
      rows={rows} moment={moment} sort={[1, true]}
      selected={selection?.kind === "link" ? selection.id : null}
      pick={(link) => page.store.select({ kind: "link", id: link })}
      columns={columns}
    />
  );
}
