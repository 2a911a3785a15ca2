// Why the run isn't faster: its bound, what happened on the way, the steps of its critical path,
// and when its hottest link was idle.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Check } from "../controls.tsx";
import { group } from "../groups.ts";
import { busyShare, quiet } from "../measure.ts";
import type { Page } from "../page.ts";
import type { Hops, Loaded } from "../run.ts";
import { useView } from "../state.ts";
import { numbers, Table } from "../table.tsx";
import { share, time, whole } from "../words.ts";
import { bound, Part } from "./facts.tsx";

const MOST = 500;

/** Lines by time that seek; those to come are grey. */
function Steps({ page, steps }: { page: Page; steps: [at: number, words: ComponentChildren][] }) {
  const { moment } = useView(page.store);
  return (
    <>
      <ol class="steps">
        {steps.slice(0, MOST).map(([at, words], i) => (
          <li key={i} class={at <= moment ? "" : "soft"}>
            <button class="plain" onClick={() => page.seek(at)}>{words}</button>
          </li>
        ))}
      </ol>
      {steps.length > MOST && <p class="soft">{whole(MOST)} of {whole(steps.length)}.</p>}
    </>
  );
}

/** Successive hops of the critical path over one link. */
export interface Step {
  first: number; last: number; count: number;
  /** Time between the step before (or the beginning) and the first hop's start. */
  waited: number;
  /** Time between this step's hops. */
  between: number;
  /** Whether the step before ended where this one begins, so that it brought the data. */
  brought: boolean;
}

export function criticalSteps(loaded: Loaded): Step[] {
  const { hops } = loaded;
  if (hops === null) return [];
  const { from, to } = loaded.run.network.links;
  const steps: Step[] = [];
  for (const hop of loaded.run.critical) {
    const before = steps.at(-1);
    const waited = Math.max(0, hops.start[hop] - (before ? hops.end[before.last] : 0));
    const link = hops.link[hop];
    if (before !== undefined && hops.link[before.last] === link) {
      before.last = hop;
      before.count++;
      before.between += waited;
      continue;
    }
    const brought = before !== undefined && to[hops.link[before.last]] === from[link];
    steps.push({ first: hop, last: hop, count: 1, waited, between: 0, brought });
  }
  return steps;
}

export function hottestLink(loaded: Loaded): number {
  const { busy_ps: busy } = loaded.run.network.links;
  return busy.reduce((best, value, link) => (value > busy[best] ? link : best), 0);
}

export interface Gap { from: number; to: number }

/** The times a link carried nothing, the longest first, out of the window that hops are from. */
export function idleGaps(loaded: Loaded, link: number): Gap[] {
  const { hops, run } = loaded;
  if (hops === null || run.hops === null) return [];
  const gaps: Gap[] = [];
  const whole = run.hops.count === run.hops.total;
  let busyUntil = whole ? 0 : run.hops.from_ps;
  const close = whole ? run.completion_ps : run.hops.to_ps;
  for (const hop of group(hops.byLink, link)) {
    if (hops.start[hop] > busyUntil) gaps.push({ from: busyUntil, to: hops.start[hop] });
    busyUntil = Math.max(busyUntil, hops.end[hop]);
  }
  if (close > busyUntil) gaps.push({ from: busyUntil, to: close });
  return gaps.sort((a, b) => b.to - b.from - (a.to - a.from) || a.from - b.from);
}

/** What a step is, why it follows the one before, and how long after it. */
function words(loaded: Loaded, { start, end, chunk, link }: Hops, step: Step) {
  const { first, last, count, brought, waited, between } = step;
  const before = [brought ? "then its data" : "", waited > 0 ? `waited ${time(waited)}` : ""]
    .filter((part) => part !== "").join(", ");
  return (
    <>
      {before && `${before}: `}
      <span class="name">{loaded.linkNames[link[first]]}</span>
      {count > 1 ? `, ${whole(count)} chunks one after another: `
        : `, chunk ${whole(chunk[first])}: `}
      {`${time(start[first])} to ${time(end[last])}`}
      {between > 0 && `, ${time(between)} between them`}
    </>
  );
}

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
      {run.moments.length > 0 && (
        <>
          <h3>What happened</h3>
          <Steps
            page={page} steps={run.moments.map(({ at_ps: at, words }) =>
              [at, <>{time(at)}: <span class="name">{words.slice(0, 300)}</span></>])}
          />
        </>
      )}
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
            <Steps
              page={page}
              steps={steps.map((step) => [hops.start[step.first], words(loaded, hops, step)])}
            />
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
