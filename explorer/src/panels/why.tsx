// Why the run isn't faster: its bound, its critical path, and the idle gaps of its hottest link.

import { useMemo } from "preact/hooks";
import { Check } from "../controls.tsx";
import { useView } from "../hooks.ts";
import { busyShare, quiet } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { numbers, Table } from "../table.tsx";
import { criticalSteps, hottestLink, idleGaps, type Step } from "../why.ts";
import { share, time, whole } from "../words.ts";
import { bound, Part } from "./facts.tsx";
import { Happened } from "./happened.tsx";

export function Why({ page, loaded }: { page: Page; loaded: Loaded }) {
  const view = useView(page.store);
  const steps = useMemo(() => criticalSteps(loaded), [loaded]);
  const link = hottestLink(loaded);
  const gaps = useMemo(() => idleGaps(loaded, link), [loaded]);
  const { hops, run } = loaded;
  const waited = steps.reduce((sum, step) => sum + step.waited + step.between, 0);
  return (
    <>
      <h2>Why it isn't faster</h2>
      {run.bound_ps !== null && <p>No schedule can be faster than {bound(loaded)}.</p>}
      <Happened page={page} loaded={loaded} />
      <h3>Critical path</h3>
      {steps.length === 0 || hops === null
        ? (
          <p class="soft">
            {hops === null ? "The hops aren't in this page, so nothing is known of it."
              : "It is told of runs of up to 2,000,000 hops."}
          </p>
        )
        : (
          <>
            <p>
              {whole(run.critical.length)} hops, each waiting for the one before it: for its data,
              or for its link where chunks go over it one after another. Between them{" "}
              {time(waited)} of waiting.{" "}
              <Check
                words="show it" on={view.critical}
                onChange={(critical) => page.store.change({ critical })}
              />
            </p>
            <ol class="steps">
              {steps.slice(0, 500).map((step) => {
                const start = hops.start[step.first];
                return (
                  <li key={step.first} class={start <= view.moment ? "" : "soft"}>
                    <button class="plain" onClick={() => page.seek(start)}>
                      {follows(step)}
                      <span class="name">{loaded.linkNames[hops.link[step.first]]}</span>
                      {step.count > 1 ? `, ${whole(step.count)} chunks one after another: `
                        : `, chunk ${whole(hops.chunk[step.first])}: `}
                      {`${time(start)} to ${time(hops.end[step.last])}`}
                      {step.between > 0 && `, ${time(step.between)} between them`}
                    </button>
                  </li>
                );
              })}
            </ol>
            {steps.length > 500 && <p class="soft">The first 500 are listed.</p>}
          </>
        )}
      {loaded.links > 0 && !quiet(loaded) && (
        <>
          <h3>The hottest link</h3>
          <Part loaded={loaded} />
          <p>
            <button class="plain" onClick={() => page.store.select({ kind: "link", id: link })}>
              <span class="name">{loaded.linkNames[link]}</span>
            </button>
            {" "}was busy {share(busyShare(loaded, link))} of the time
            {hops === null ? "."
              : `, with ${whole(gaps.length)} idle gap${gaps.length === 1 ? "" : "s"}:`}
          </p>
          {gaps.length > 0 && (
            <Table
              caption="Idle gaps" rows={[...gaps.keys()]}
              pick={(i) => page.seek(gaps[i].from)}
              columns={[
                numbers("from", (i) => gaps[i].from, time), numbers("to", (i) => gaps[i].to, time),
                numbers("idle", (i) => gaps[i].to - gaps[i].from, time),
              ]}
            />
          )}
        </>
      )}
    </>
  );
}

/** Why a step follows the one before, and how long after it. */
function follows(step: Step): string {
  const words = [
    step.brought ? "then its data" : "", step.waited > 0 ? `waited ${time(step.waited)}` : "",
  ].filter((part) => part !== "");
  return words.length === 0 ? "" : `${words.join(", ")}: `;
}
