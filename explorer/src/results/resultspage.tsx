// The page of results: a bar, a tab per table and one for timelines, and what is chosen.

import { useRef } from "preact/hooks";
import { Choose } from "../controls.tsx";
import { useView } from "../hooks.ts";
import type { Page } from "../page.ts";
import { Tabs } from "../panels.tsx";
import { Header } from "../toolbar.tsx";
import { AS_IS, type Choices } from "./choices.ts";
import type { Findings } from "./read.ts";
import { SheetView } from "./sheetview.tsx";
import { Training } from "./training.tsx";

const MOST_TABS = 8;

export function ResultsPage({ page, findings }: { page: Page; findings: Findings }) {
  const { choices } = useView(page.store);
  const { sheets, strips } = findings;
  // What was chosen of each table is kept while the page is open.
  const kept = useRef(new Map<number, Choices>());
  const turn = (table: number) => {
    kept.current.set(choices.table, choices);
    page.choose({ ...AS_IS, ...kept.current.get(table), table });
  };
  const tabs: [number, string][] = sheets.map(({ title }, i) => [i, title]);
  if (strips.length > 0) tabs.push([-1, strips.length > 1 ? "timelines" : "timeline"]);
  const sheet = sheets[choices.table];
  const drawn = sheet === undefined || sheet.rows > 0 && (choices.plan ?? sheet.plan).kind !== "none";
  return (
    <div class="results">
      <Header page={page} command={page.data.command} drawn={drawn} />
      {tabs.length > MOST_TABS
        ? (
          <div class="bar">
            <Choose title="table" value={choices.table} options={tabs} onChange={turn} />
          </div>
        )
        : tabs.length > 1 && <Tabs tabs={tabs} chosen={choices.table} choose={turn} />}
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
