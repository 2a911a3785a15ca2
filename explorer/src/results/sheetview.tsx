// One table of results: what to know first, its chart, its filters, its rows and its pictures.

import { useMemo } from "preact/hooks";
import type { Page } from "../page.ts";
import { shown, whole } from "../words.ts";
import { ChartBar } from "./chartbar.tsx";
import type { Choices } from "./choices.ts";
import { Filters } from "./filters.tsx";
import { Grid } from "./grid.tsx";
import { Pictures } from "./pictures.tsx";
import { MOST_BARS } from "./plot.ts";
import { PlotPane } from "./plotpane.tsx";
import { filtered, inOrder, paretoFront, rivals } from "./select.ts";
import type { Sheet } from "./sheet.ts";

const LONGEST_NOTE = 5000;

interface Props {
  page: Page;
  sheet: Sheet;
  choices: Choices;
  /** Whether there is nothing but this table. */
  alone: boolean;
}

export function SheetView({ page, sheet, choices, alone }: Props) {
  const { sort, only, within, find, log, row } = choices;
  const choose = (part: Partial<Choices>) => page.choose(part);
  const plan = choices.plan ?? sheet.plan;
  const ordered = useMemo(() => inOrder(sheet, sort), [sheet, sort]);
  const passed = useMemo(
    () => filtered(sheet, ordered, choices), [sheet, ordered, only, within, find],
  );
  const front = useMemo(() => {
    const pair = rivals(sheet, plan);
    return pair === null ? null : paretoFront(passed, ...pair);
  }, [passed, plan]);
  const rows = useMemo(() => {
    const best = new Set(front);
    return choices.front && front !== null ? passed.filter((row) => best.has(row)) : passed;
  }, [passed, front, choices.front]);
  const plot = { sheet, rows, plan, log, front, row };
  const { notes, pictures } = sheet.table;
  return (
    <div class={plan.kind === "none" ? "sheet" : "sheet drawn"}>
      {alone && <h2 class="name">{sheet.title}</h2>}
      {notes.map((note, i) => <p key={i} class="note name">{shown(note, LONGEST_NOTE)}</p>)}
      <section class="charts" aria-label="chart and its columns">
        <ChartBar sheet={sheet} plan={plan} rows={rows} log={log} choose={choose} />
        {plan.kind !== "none" && (
          <PlotPane
            page={page} plot={plot} pick={(picked) => choose({ row: picked === row ? -1 : picked })}
            within={(ranges) => choose({ within: { ...within, ...ranges } })}
          />
        )}
        {plan.kind === "parts" && rows.length > MOST_BARS && (
          <p class="soft">The first {MOST_BARS} of {whole(rows.length)} rows.</p>
        )}
        {front !== null && (
          <p>
            On the front: {whole(front.length)} of {whole(passed.length)}.{" "}
            <button type="button" onClick={() => choose({ front: !choices.front })}>
              {choices.front ? "show all" : "show only those"}
            </button>
          </p>
        )}
      </section>
      <section class="rest" aria-label="rows">
        <Filters sheet={sheet} choices={choices} shown={rows.length} choose={choose} />
        {sheet.same.length > 0 && sheet.seen.length > 0 && (
          <p class="soft name">
            The same in all rows:{" "}
            {sheet.same.map((field) => `${field.title} ${field.words(0, 120)}`).join("; ")}
          </p>
        )}
        <Grid page={page} sheet={sheet} rows={rows} choices={choices} choose={choose} />
      </section>
      <Pictures key={sheet.title} pictures={pictures} />
    </div>
  );
}
