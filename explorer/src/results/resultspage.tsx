// The page of results: a bar, a tab per table and one for timelines, and what is chosen.

import { useRef } from "preact/hooks";
import { savePng, saveSvg } from "../export.ts";
import { useView } from "../hooks.ts";
import type { Page } from "../page.ts";
import { Copy, nextTheme, ViewChoice } from "../toolbar.tsx";
import { AS_IS, type Choices } from "./choices.ts";
import { Choose } from "./choose.tsx";
import type { Findings } from "./read.ts";
import { SheetView } from "./sheetview.tsx";
import { Training } from "./training.tsx";

const MOST_TABS = 8;

export function ResultsPage({ page, findings }: { page: Page; findings: Findings }) {
  const { choices, theme } = useView(page.store);
  const { sheets, strips } = findings;
  const { data } = page;
  // What was chosen of each table is kept while the page is open.
  const kept = useRef(new Map<number, Choices>());
  const turn = (table: number) => {
    kept.current.set(choices.table, choices);
    page.choose({ ...AS_IS, ...kept.current.get(table), table });
  };
  const tabs: [number, string][] = sheets.map(({ title }, i) => [i, title]);
  if (strips.length > 0) tabs.push([-1, strips.length > 1 ? "timelines" : "timeline"]);
  const sheet = sheets[choices.table];
  const drawn = sheet === undefined || (choices.plan ?? sheet.plan).kind !== "none";
  return (
    <div class="results">
      <header>
        {page.problem !== "" && <p role="alert" class="problem">{page.problem}</p>}
        <h1 class="name" title={data.title.slice(0, 300)}>{data.title.slice(0, 300) || "Tutti"}</h1>
        <ViewChoice page={page} />
        <span class="group">
          <Copy text={data.command} />
          <button type="button" disabled={!drawn} onClick={() => savePng(page)}>PNG</button>
          <button type="button" disabled={!drawn} onClick={() => saveSvg(page)}>SVG</button>
          <button type="button" onClick={() => page.setTheme(nextTheme[theme])}>
            theme: {theme}
          </button>
        </span>
      </header>
      {tabs.length > MOST_TABS
        ? (
          <div class="bar">
            <Choose title="table" value={choices.table} options={tabs} onChange={turn} />
          </div>
        )
        : tabs.length > 1 && (
          <div role="tablist" class="tabs">
            {tabs.map(([i, title]) => (
              <button
                key={i} type="button" role="tab" class="name" aria-selected={i === choices.table}
                onClick={() => turn(i)}
              >
                {title}
              </button>
            ))}
          </div>
        )}
      {sheet !== undefined
        ? (
          <SheetView
            key={choices.table} page={page} sheet={sheet} choices={choices} alone={tabs.length < 2}
          />
        )
        : <Training page={page} strips={strips} choices={choices} />}
    </div>
  );
}
