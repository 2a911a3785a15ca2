// Two runs side by side: their facts, and how busy each link is in either.

import { useMemo } from "preact/hooks";
import { useView } from "../hooks.ts";
import { busyShare } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { Table } from "../table.tsx";
import { share, shown } from "../words.ts";

export function Compare({ page, loaded }: { page: Page; loaded: Loaded }) {
  const view = useView(page.store);
  const { other } = page;
  const rows = useMemo(() => [...loaded.linkNames.keys()], [loaded]);
  const choice = (
    <label class="field">
      beside it
      <select
        value={view.other}
        onChange={(event) => page.show({ other: Number(event.currentTarget.value) })}
      >
        <option value={-1}>nothing</option>
        {page.data.runs.map((run, i) => (
          <option key={i} value={i}>{shown(run.label, 60)}</option>
        ))}
      </select>
    </label>
  );
  if (other === null) {
    return <>{choice}<p class="soft">Choose a run to see the two side by side on one clock.</p></>;
  }
  const keys = [...new Set([...loaded.run.facts, ...other.run.facts].map(([key]) => key))];
  const fact = (of: Loaded, key: string) => of.run.facts.find(([k]) => k === key)?.[1] ?? "";
  const difference = (link: number) => busyShare(other, link) - busyShare(loaded, link);
  return (
    <>
      {choice}
      <div class="scroll">
        <table class="facts compare">
          <thead>
            <tr>
              <td />
              <th scope="col" class="name">{loaded.run.label.slice(0, 80)}</th>
              <th scope="col" class="name">{other.run.label.slice(0, 80)}</th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key}>
                <th scope="row" class="name">{key.slice(0, 80)}</th>
                <td class="name">{fact(loaded, key).slice(0, 400)}</td>
                <td class="name">{fact(other, key).slice(0, 400)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {other.links !== loaded.links
        ? <p class="soft">The networks differ in their links, so these can't be compared.</p>
        : (
          <>
            <p>
              <button
                type="button" onClick={() => page.store.change({ colouring: "difference" })}
              >
                colour links by the difference
              </button>
            </p>
            <Table
              caption="Busy shares of links" rows={rows}
              pick={(link) => page.store.select({ kind: "link", id: link })}
              columns={[
                {
                  title: "link",
                  value: (i) => loaded.linkNames[i],
                  words: (i) => loaded.linkNames[i],
                },
                {
                  title: "this",
                  value: (i) => busyShare(loaded, i),
                  words: (i) => share(busyShare(loaded, i)),
                },
                {
                  title: "other",
                  value: (i) => busyShare(other, i),
                  words: (i) => share(busyShare(other, i)),
                },
                { title: "difference", value: difference, words: (i) => share(difference(i)) },
              ]}
            />
          </>
        )}
    </>
  );
}
