// The table of results: sorts by any column, and unfolds a row into all that is known of it.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Page } from "../page.ts";
import { Pairs } from "../panels/pairs.tsx";
import { whole } from "../words.ts";
import type { Choices } from "./choices.ts";
import type { Field, Sheet } from "./sheet.ts";
import { signOf, toneOf } from "./verdicts.ts";

interface Props {
  page: Page;
  sheet: Sheet;
  rows: number[];
  choices: Choices;
  choose: (part: Partial<Choices>) => void;
}

const ROWS = 200;

export function Grid({ page, sheet, rows, choices, choose }: Props) {
  const [limit, setLimit] = useState(ROWS);
  const box = useRef<HTMLDivElement>(null);
  const { sort, row: chosen } = choices;
  const fields = sheet.seen.length > 0 ? sheet.seen : sheet.same;
  const hasRuns = sheet.table.runs.some((run) => run >= 0);
  useEffect(() => setLimit(ROWS), [sheet]);
  useEffect(() => {
    box.current?.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const first = rows.slice(0, limit);
  const beyond = chosen >= 0 && !first.includes(chosen) && rows.includes(chosen);
  const width = fields.length + Number(hasRuns);
  const sortBy = (field: Field) => {
    const falling = sort?.[0] === field.index ? !sort[1] : false;
    choose({ sort: sort?.[0] === field.index && sort[1] ? null : [field.index, falling] });
  };
  const line = (row: number) => {
    const run = sheet.table.runs[row] ?? -1;
    const open = row === chosen;
    return [
      <tr
        key={row} class={`pick ${open ? "selected" : ""}`}
        onClick={() => choose({ row: open ? -1 : row })}
      >
        {fields.map((field, i) => {
          const words = field.words(row, 120);
          const tone = toneOf(field.column.name, words);
          return (
            <td key={field.index} class={field.numeric ? "number" : "name"}>
              {i === 0
                ? (
                  <button type="button" class="plain" aria-expanded={open}>
                    {words || "\u2026"}
                  </button>
                )
                : tone === "" ? words : <span class={tone}>{signOf(tone)}{words}</span>}
            </td>
          );
        })}
        {hasRuns && (
          <td>
            {run >= 0 && (
              <button
                type="button"
                onClick={(event) => {
                  event.stopPropagation();
                  page.show({ view: "network", run, other: -1, moment: 0, range: null });
                  scrollTo(0, 0);
                }}
              >
                open the network
              </button>
            )}
          </td>
        )}
      </tr>,
      open && (
        <tr key="detail" class="detail">
          <td colSpan={width}>
            <div>
              <Pairs
                rows={sheet.fields.filter(({ empty }) => !empty).map((field) =>
                  [field.title, field.words(row, 2000) || "\u2013"])}
              />
            </div>
          </td>
        </tr>
      ),
    ];
  };
  return (
    <>
      <div class="scroll grid" ref={box}>
        <table class="numbers">
          <caption class="unseen">{sheet.title}</caption>
          <thead>
            <tr>
              {fields.map((field) => {
                const by = sort?.[0] === field.index;
                return (
                  <th
                    key={field.index} scope="col" class={field.numeric ? "number" : ""}
                    title={field.column.meaning.slice(0, 500)}
                    aria-sort={!by ? "none" : sort[1] ? "descending" : "ascending"}
                  >
                    <button type="button" onClick={() => sortBy(field)}>
                      {field.title}{by ? (sort[1] ? " \u25be" : " \u25b4") : ""}
                    </button>
                  </th>
                );
              })}
              {hasRuns && <th scope="col">run</th>}
            </tr>
          </thead>
          <tbody>
            {first.map(line)}
            {beyond && <tr key="gap"><td colSpan={width} class="soft">{"\u2026"}</td></tr>}
            {beyond && line(chosen)}
          </tbody>
        </table>
      </div>
      {rows.length > limit && (
        <p class="pages">
          {whole(limit)} of {whole(rows.length)}
          <button type="button" onClick={() => setLimit(limit + ROWS)}>show more</button>
        </p>
      )}
    </>
  );
}
