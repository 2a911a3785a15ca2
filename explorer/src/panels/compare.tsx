// Two runs side by side: their facts, and how busy each link is in either.

import { useMemo } from "preact/hooks";
import { Choose } from "../controls.tsx";
import { busyShare } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { useView } from "../state.ts";
import { numbers, Table, texts } from "../table.tsx";
import { share } from "../words.ts";
import { Pairs } from "./facts.tsx";

export function Compare({ page, loaded }: { page: Page; loaded: Loaded }) {
  const view = useView(page.store);
  const { other } = page;
  const rows = useMemo(() => [...loaded.linkNames.keys()], [loaded]);
  const runs = page.data.runs.map(({ label }, i): [number, string] => [i, label]);
  const choice = (
    <Choose
      title="beside it" value={view.other} options={[[-1, "nothing"], ...runs]}
      onChange={(run) => page.show({ other: run })}
    />
  );
  if (other === null) {
    return <>{choice}<p class="soft">Choose a run to see the two side by side on one clock.</p></>;
  }
  const both = [loaded, other];
  const keys = [...new Set(both.flatMap(({ run }) => run.facts.map(([key]) => key)))];
  return (
    <>
      {choice}
      <div class="scroll">
        <Pairs
          head={both.map(({ run }) => run.label.slice(0, 80))}
          rows={keys.map((key) => [key, ...both.map(({ run: { facts } }) =>
            facts.find(([k]) => k === key)?.[1].slice(0, 400))])}
        />
      </div>
      {other.links !== loaded.links
        ? <p class="soft">The networks differ in their links, so these can't be compared.</p>
        : (
          <>
            <p>
              <button onClick={() => page.store.change({ colouring: "difference" })}>
                colour links by the difference
              </button>
            </p>
            <Table
              caption="Busy shares of links" rows={rows}
              pick={(id) => page.store.select({ kind: "link", id })}
              columns={[
                texts("link", (i) => loaded.linkNames[i]),
                numbers("this", (i) => busyShare(loaded, i), share),
                numbers("other", (i) => busyShare(other, i), share),
                numbers("difference", (i) => busyShare(other, i) - busyShare(loaded, i), share),
              ]}
            />
          </>
        )}
    </>
  );
}
