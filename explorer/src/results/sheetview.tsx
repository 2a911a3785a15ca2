// One table of results: what to know first, its chart, its filters, its rows and its pictures.

import { useMemo } from "preact/hooks";
import type { Page } from "../page.ts";
import { Pairs } from "../panels/facts.tsx";
import { Table } from "../table.tsx";
import { shown, toneOf, whole } from "../words.ts";
import { ChartBar, Filters } from "./bars.tsx";
import type { Choices } from "./choices.ts";
import { drawable, MOST_BARS } from "./plot.ts";
import { PlotPane } from "./plotpane.tsx";
import { Pictures } from "./resultspage.tsx";
import { filtered, paretoFront, rivals, rowsBy, type Sheet } from "./sheet.ts";

const LONGEST_NOTE = 20_000;

interface Props {
  page: Page; sheet: Sheet; choices: Choices;
  /** Whether there is nothing but this table. */
  alone: boolean;
}

export function SheetView({ page, sheet, choices, alone }: Props) {
  const { sort, only, within, find, log, row } = choices;
  const choose = (part: Partial<Choices>) => page.choose(part);
  const plan = choices.plan ?? sheet.plan;
  const ordered = useMemo(() => rowsBy(sheet, sort), [sheet, sort]);
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
  const empty = sheet.rows === 0;
  return (
    <div class={plan.kind === "none" || empty ? "sheet" : "sheet drawn"}>
      {alone && <h2 class="name">{sheet.title}</h2>}
      {notes.map((note, i) => <Note key={i} text={note} />)}
      {!empty && (
        <section class="charts" aria-label="chart and its columns">
          <ChartBar sheet={sheet} rows={rows} choices={choices} choose={choose} />
          {plan.kind !== "none" && (
            <PlotPane
              page={page} plot={plot}
              pick={(picked) => choose({ row: picked === row ? -1 : picked })}
              within={(ranges) => choose({ within: { ...within, ...ranges } })}
            />
          )}
          {drawable(plot).kind === "parts" && rows.length > MOST_BARS && (
            <p class="soft">The first {MOST_BARS} of {whole(rows.length)} rows.</p>
          )}
          {front !== null && (
            <p>
              On the front: {whole(front.length)} of {whole(passed.length)}.{" "}
              <button onClick={() => choose({ front: !choices.front })}>
                {choices.front ? "show all" : "show only those"}
              </button>
            </p>
          )}
        </section>
      )}
      {!empty && (
        <section class="rest" aria-label="rows">
          <Filters sheet={sheet} rows={rows} choices={choices} choose={choose} />
          {sheet.same.length > 0 && sheet.seen.length > 0 && (
            <p class="soft name">
              The same in all rows:{" "}
              {sheet.same.map((field) => `${field.title} ${field.words(0, 120)}`).join("; ")}
            </p>
          )}
          <Rows page={page} sheet={sheet} rows={rows} choices={choices} />
        </section>
      )}
      <Pictures key={sheet.title} pictures={pictures} />
    </div>
  );
}

/** A paragraph; what has several lines keeps them. */
function Note({ text }: { text: string }) {
  const lines = text.trim().slice(0, LONGEST_NOTE).split("\n").map((line) => shown(line, 2000));
  return lines.length > 1 ? <pre class="note" tabIndex={0}>{lines.join("\n")}</pre>
    : <p class="note name">{lines[0]}</p>;
}

function Rows({ page, sheet, rows, choices }: Omit<Props, "alone"> & { rows: number[] }) {
  const { sort, row: chosen } = choices;
  const fields = sheet.seen.length > 0 ? sheet.seen : sheet.same;
  const { runs } = sheet.table;
  const open = (row: number) => runs[row] >= 0 && (
    <button
      class="plain open" aria-label="open the network" title="open the network"
      onClick={(event) => {
        event.stopPropagation();
        page.choose({ row });
        page.show({ view: "network", run: runs[row], other: -1, moment: 0, range: null });
        scrollTo(0, 0);
      }}
    >
      open
    </button>
  );
  const by = fields.findIndex(({ index }) => index === sort?.[0]);
  return (
    <Table
      caption={sheet.title} rows={rows} selected={chosen}
      lead={runs.some((run) => run >= 0) ? open : undefined}
      pick={(row) => page.choose({ row: row === chosen ? -1 : row })}
      order={{
        by: sort !== null && by >= 0 ? [by, sort[1]] : null,
        change: (sort) => page.choose({ sort: sort && [fields[sort[0]].index, sort[1]] }),
      }}
      columns={fields.map((field) => ({
        title: field.title, numeric: field.numeric, meaning: field.column.meaning.slice(0, 500),
        value: (row) => field.numbers[row], words: (row) => field.words(row, 120),
        tone: (row) => toneOf(field.column.name, field.words(row, 120)),
      }))}
      detail={(row) => (
        <Pairs
          rows={sheet.fields.filter(({ empty }) => !empty).map((field) =>
            [field.title, field.words(row, 2000) || "\u2013"])}
        />
      )}
    />
  );
}
