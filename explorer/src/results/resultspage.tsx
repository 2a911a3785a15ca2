// The page of results: a bar, a tab per table and one for timelines, and what is chosen.

import { useMemo, useRef, useState } from "preact/hooks";
import { Choose } from "../controls.tsx";
import type { Table } from "../format.ts";
import type { Page } from "../page.ts";
import { Tabs } from "../panels.tsx";
import { useView } from "../state.ts";
import { Header } from "../toolbar.tsx";
import { shown } from "../words.ts";
import { AS_IS, type Choices } from "./choices.ts";
import type { Findings } from "./read.ts";
import { SheetView } from "./sheetview.tsx";
import { Training } from "./training.tsx";

const OPEN = 3;

function addressOf(svg: string): string {
  let text = "";
  for (const byte of new TextEncoder().encode(svg)) text += String.fromCharCode(byte);
  return `data:image/svg+xml;base64,${btoa(text)}`;
}

function Picture({ picture }: { picture: Table["pictures"][number] }) {
  const [full, setFull] = useState(false);
  const address = useMemo(() => addressOf(picture.svg), [picture]);
  const title = shown(picture.title, 200);
  return (
    <figure class={full ? "full" : ""}>
      <button class="plain" aria-pressed={full} onClick={() => setFull(!full)}>
        <img src={address} alt={title} loading="lazy" />
      </button>
      <figcaption class="soft name">{title}</figcaption>
    </figure>
  );
}

export function Pictures({ pictures }: { pictures: Table["pictures"] }) {
  const [open, setOpen] = useState(false);
  const [first, rest] = [pictures.slice(0, OPEN), pictures.slice(OPEN)];
  return (
    <>
      {first.length > 0 && (
        <div class="pictures">{first.map((it, i) => <Picture key={i} picture={it} />)}</div>
      )}
      {rest.length > 0 && (
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{rest.length} more picture{rest.length > 1 ? "s" : ""}</summary>
          {open && (
            <div class="pictures">{rest.map((it, i) => <Picture key={i} picture={it} />)}</div>
          )}
        </details>
      )}
    </>
  );
}

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
  const drawn = sheet === undefined
    || sheet.rows > 0 && (choices.plan ?? sheet.plan).kind !== "none";
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
