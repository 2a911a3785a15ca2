// A table of numbers that sorts by any column and shows a hundred rows at a time.

import { useMemo, useState } from "preact/hooks";
import { whole } from "./words.ts";

export interface Column {
  title: string;
  value: (row: number) => number | string;
  words: (row: number) => string;
  /** Whether the values change with the moment. */
  live?: boolean;
}

interface Props {
  caption: string;
  columns: Column[];
  rows: number[];
  /** The moment of the live columns' values. */
  moment?: number;
  /** The column sorted by at first, and whether its largest come first. */
  sort?: [number, boolean];
  selected?: number | null;
  pick?: (row: number) => void;
}

const ROWS = 100;

const ORDER = new Intl.Collator("en", { numeric: true });

export function Table({ caption, columns, rows, moment, sort, selected, pick }: Props) {
  const [[by, falling], setSort] = useState<[number, boolean]>(sort ?? [-1, false]);
  const [page, setPage] = useState(0);
  const sorted = useMemo(
    () => (by < 0 ? rows : sortBy(rows, columns[by], falling)),
    [rows, by, falling, columns[by]?.live ? moment : null],
  );
  const pages = Math.max(1, Math.ceil(rows.length / ROWS));
  const first = Math.min(page, pages - 1) * ROWS;
  const last = Math.min(rows.length, first + ROWS);
  const numeric = columns.map(({ value }) => rows.length > 0 && typeof value(rows[0]) === "number");
  return (
    <>
      <div class="scroll">
        <table class="numbers">
          <caption>{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ title }, i) => (
                <th
                  key={title} scope="col" class={numeric[i] ? "number" : ""}
                  aria-sort={i !== by ? "none" : falling ? "descending" : "ascending"}
                >
                  <button
                    type="button"
                    onClick={() => setSort([i, i === by ? !falling : numeric[i]])}
                  >
                    {title}{i === by ? (falling ? " \u25be" : " \u25b4") : ""}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(first, last).map((row) => (
              <tr
                key={row} class={`${pick ? "pick" : ""} ${row === selected ? "selected" : ""}`}
                onClick={() => pick?.(row)}
              >
                {columns.map(({ title, words }, i) => (
                  <td key={title} class={numeric[i] ? "number" : "name"}>
                    {i === 0 && pick !== undefined
                      ? <button type="button" class="plain">{words(row)}</button>
                      : words(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pages > 1 && (
        <p class="pages">
          <button type="button" disabled={first === 0} onClick={() => setPage(page - 1)}>
            previous
          </button>
          {whole(first + 1)} to {whole(last)} of {whole(rows.length)}
          <button
            type="button" disabled={last === rows.length} onClick={() => setPage(page + 1)}
          >
            next
          </button>
        </p>
      )}
    </>
  );
}

function sortBy(rows: number[], { value }: Column, falling: boolean): number[] {
  const keyed = rows.map((row) => ({ row, key: value(row) }));
  const order = (a: number | string, b: number | string) =>
    typeof a === "string" ? ORDER.compare(a, String(b)) : a - Number(b);
  keyed.sort((a, b) => (falling ? order(b.key, a.key) : order(a.key, b.key)) || a.row - b.row);
  return keyed.map(({ row }) => row);
}
