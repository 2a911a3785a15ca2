// The links at the present moment: what the drawing shows, as numbers.

import { useMemo } from "preact/hooks";
import { useView } from "../hooks.ts";
import { busyNow, busyShare, inFlight, timed } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { type Column, Table } from "../table.tsx";
import { share, size, time, whole } from "../words.ts";

export function Links({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment, selection } = useView(page.store);
  const { links } = loaded.run.network;
  const flying = inFlight(loaded, moment);
  const rows = useMemo(() => [...loaded.linkNames.keys()], [loaded]);
  const now = (link: number) => busyNow(loaded, link, moment);
  const all = (link: number) => busyShare(loaded, link);
  return (
    <Table
      caption={timed(loaded) ? `Links at ${time(moment)}` : "Links"}
      rows={rows} moment={moment} sort={[1, true]}
      selected={selection?.kind === "link" ? selection.id : null}
      pick={(link) => page.store.select({ kind: "link", id: link })}
      columns={([
        { title: "link", value: (i) => loaded.linkNames[i], words: (i) => loaded.linkNames[i] },
        { title: "busy", value: all, words: (i) => share(all(i)) },
        { title: "bytes", value: (i) => links.bytes[i], words: (i) => size(links.bytes[i]) },
        {
          title: "transfers",
          value: (i) => links.transfers[i],
          words: (i) => whole(links.transfers[i]),
        },
        { title: "busy now", value: now, words: (i) => share(now(i)), live: true },
        {
          title: "in flight",
          value: (i) => flying[i],
          words: (i) => whole(flying[i]),
          live: true,
        },
      ] as Column[]).filter(({ title }) =>
        !(title === "busy now" && !timed(loaded) || title === "in flight" && loaded.hops === null))}
    />
  );
}
