// What waits for what at the present moment, in sentences.

import { useMemo } from "preact/hooks";
import { group } from "../groups.ts";
import { useView } from "../hooks.ts";
import type { Page } from "../page.ts";
import type { Hops, Loaded } from "../run.ts";
import { time, whole } from "../words.ts";
import { type Waiting as Wait, waitings } from "../waiting.ts";
import { Part } from "./facts.tsx";

const MOST = 200;

export function Waiting({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment, selection } = useView(page.store);
  const { hops, linkNames, outgoing, incoming } = loaded;
  const { waits, done } = useMemo(() => {
    const links = selection?.kind === "link" ? [selection.id]
      : selection?.kind === "node"
        ? new Set([...group(outgoing, selection.id), ...group(incoming, selection.id)])
        : linkNames.keys();
    return waitings(loaded, moment, links);
  }, [loaded, moment, selection]);
  if (hops === null) {
    return <p class="soft">The hops aren't in this page, so nothing is known of what waits.</p>;
  }
  const select = page.store.change.bind(page.store);
  return (
    <>
      <h2>What waits at {time(moment)}</h2>
      <Part loaded={loaded} />
      <p>
        Links with a hop to come: {whole(waits.length)}
        {waits.length > MOST ? ` (${MOST} of them are listed)` : ""}; with none:{" "}
        {whole(done)}.
      </p>
      <ol class="steps">
        {waits.slice(0, MOST).map((wait) => (
          <li key={wait.link}>
            <button
              class="plain"
              onClick={() => select({ selection: { kind: "link", id: wait.link } })}
            >
              <span class="name">{linkNames[wait.link]}</span>
            </button>
            {wait.idle && moment > wait.since ? `, idle for ${time(moment - wait.since)}` : ""}
            {": "}
            <button
              class="plain"
              onClick={() => select({ selection: { kind: "chunk", id: hops.chunk[wait.hop] } })}
            >
              chunk {whole(hops.chunk[wait.hop])}
            </button>
            {" "}{reason(loaded, hops, wait)}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Why a hop hasn't begun. */
export function reason(loaded: Loaded, hops: Hops, { reason, by, until, link }: Wait): string {
  const chunk = whole(hops.chunk[by] ?? 0);
  const node = loaded.nodeNames[loaded.run.network.links.from[link]];
  return {
    coming: `waits for its data: it is crossing ${loaded.linkNames[hops.link[by]]} until `,
    unsent: `waits for its data: it hasn't been sent to ${node} yet, and is there at `,
    link: `waits for its link: chunk ${chunk} is on it until `,
    order: "is there and its link is free: held back by the schedule's order until ",
  }[reason] + time(until);
}
