// What is known of the run in words, and what of it this page holds.

import type { ComponentChildren } from "preact";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { time, whole } from "../words.ts";

/** A small table of words: a name and values in each row, beneath a head where there is one. */
export function Pairs(props: { rows: [string, ...ComponentChildren[]][]; head?: string[] }) {
  const { rows, head } = props;
  const words = (value: ComponentChildren) =>
    (typeof value === "string" ? value.slice(0, 2000) : value);
  return (
    <table class={head === undefined ? "facts" : "facts compare"}>
      {head && (
        <thead>
          <tr><td />{head.map((words) => <th scope="col" class="name">{words}</th>)}</tr>
        </thead>
      )}
      <tbody>
        {rows.map(([key, ...values], i) => (
          <tr key={i}>
            <th scope="row" class="name">{key.slice(0, 200)}</th>
            {values.map((value) => <td class="name">{words(value)}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Facts({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { run } = loaded;
  const there = run.hops;
  return (
    <>
      <h2 class="name">{run.label.slice(0, 200)}</h2>
      <Pairs rows={run.facts} />
      <h3>This page</h3>
      <Pairs
        rows={[
          ["made by", <Command text={page.data.command} />],
          ["network", run.network.name], ["nodes", whole(loaded.nodes)],
          ["links", whole(loaded.links)], ["chunks", whole(run.chunks.count)],
          ["completion", time(run.completion_ps)],
          ...(run.bound_ps === null ? [] : [["bound", bound(loaded)] as [string, string]]),
          ["hops", there === null ? "not in this page" : there.count === there.total
            ? whole(there.count)
            : `${whole(there.count)} of ${whole(there.total)}, `
              + `from ${time(there.from_ps)} to ${time(there.to_ps)}`],
        ]}
      />
    </>
  );
}

/** A command that breaks between its words, and in a word only where that is too long. */
function Command({ text }: { text: string }) {
  const words = text.slice(0, 2000).split(" ");
  return <code>{words.map((word, i) => [i > 0 && " ", <span key={i}>{word}</span>])}</code>;
}

/** Says so where the page holds only a part of the run's hops. */
export function Part({ loaded }: { loaded: Loaded }) {
  const { hops } = loaded.run;
  if (hops === null || hops.count === hops.total) return <></>;
  return (
    <p class="soft">
      Only the hops from {time(hops.from_ps)} to {time(hops.to_ps)} are in this page, so this is
      about them alone.
    </p>
  );
}

export function bound({ run }: Loaded): string {
  const ps = run.bound_ps as number;
  const gap = ps > 0 ? `, gap ${(run.completion_ps / ps).toFixed(3)}x` : "";
  return `${time(ps)} (${run.bound_kind})${gap}`;
}
