// A table that sorts by any column, shows two hundred rows at first, and may tell more beneath the
// row that is selected.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { inOrder } from "./groups.ts";
import { signOf, type Tone, whole } from "./words.ts";

export interface Column {
  title: string; value: (row: number) => number | string; words: (row: number) => string;
  /** Whether the values change with the moment. */
  live?: boolean;
  /** Whether it holds numbers; else its first value tells. */
  numeric?: boolean;
  meaning?: string; tone?: (row: number) => Tone | "";
}

export const texts = (title: string, of: (row: number) => string): Column =>
  ({ title, value: of, words: of });

export const numbers = (
  title: string, of: (row: number) => number, words: (x: number) => string, live = false,
): Column => ({ title, value: of, words: (row) => words(of(row)), live });

/** By which column, and whether its largest come first. */
export type Sort = [column: number, falling: boolean];

interface Props {
  caption: string; columns: Column[]; rows: number[];
  /** The moment of the live columns' values. */
  moment?: number;
  sort?: Sort;
  /** Where somebody else sorts the rows: how they are, and who is told how they shall be. */
  order?: { by: Sort | null; change: (by: Sort | null) => void };
  selected?: number | null; pick?: (row: number) => void;
  detail?: (row: number) => ComponentChildren;
  /** What stands before each row. */
  lead?: (row: number) => ComponentChildren;
}

const ROWS = 200;

export function Table(props: Props) {
  const { caption, columns, rows, moment, order, selected = null, pick, detail, lead } = props;
  const [own, setOwn] = useState<Sort | null>(props.sort ?? null);
  const [limit, setLimit] = useState(ROWS);
  const box = useRef<HTMLDivElement>(null);
  const [by, falling] = (order === undefined ? own : order.by) ?? [-1, false];
  const sorted = useMemo(
    () => (order !== undefined || by < 0 ? rows : inOrder(rows, columns[by].value, falling)),
    [rows, by, falling, columns[by]?.live ? moment : null],
  );
  useEffect(() => {
    if (detail !== undefined) {
      box.current?.querySelector("tr.selected")?.scrollIntoView({ block: "nearest" });
    }
  }, [selected]);
  const isNumeric = columns.map(({ numeric, value }) =>
    numeric ?? (rows.length > 0 && typeof value(rows[0]) === "number"));
  const sortOn = (i: number) => {
    const first = order === undefined && isNumeric[i];
    const next: Sort | null = i !== by ? [i, first] : falling === first ? [i, !first] : null;
    (order?.change ?? setOwn)(next);
  };
  const first = sorted.slice(0, limit);
  const beyond = selected !== null && !first.includes(selected) && sorted.includes(selected);
  const width = columns.length + Number(lead !== undefined);
  const line = (row: number) => [
    <tr
      key={row} class={`${pick ? "pick" : ""} ${row === selected ? "selected" : ""}`}
      onClick={() => pick?.(row)}
    >
      {lead !== undefined && <td>{lead(row)}</td>}
      {columns.map(({ title, words, tone }, i) => {
        const of = tone?.(row) ?? "";
        return (
          <td key={`${i} ${title}`} class={isNumeric[i] ? "number" : "name"}>
            {i === 0 && pick !== undefined
              ? (
                <button class="plain" aria-expanded={detail && row === selected}>
                  {words(row) || "\u2026"}
                </button>
              )
              : of === "" ? words(row) : <span class={of}>{signOf(of)}{words(row)}</span>}
          </td>
        );
      })}
    </tr>,
    detail !== undefined && row === selected && (
      <tr key="detail" class="detail"><td colSpan={width}><div>{detail(row)}</div></td></tr>
    ),
  ];
  return (
    <>
      <div class={detail === undefined ? "scroll" : "scroll grid"} ref={box}>
        <table class="numbers">
          <caption>{caption}</caption>
          <thead>
            <tr>
              {lead !== undefined && <td />}
              {columns.map(({ title, meaning }, i) => (
                <th
                  key={`${i} ${title}`} scope="col" class={isNumeric[i] ? "number" : ""}
                  title={meaning}
                  aria-sort={i !== by ? "none" : falling ? "descending" : "ascending"}
                >
                  <button onClick={() => sortOn(i)}>
                    {title}{i === by ? (falling ? " \u25be" : " \u25b4") : ""}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first.map(line)}
            {beyond && <tr key="gap"><td colSpan={width} class="soft">{"\u2026"}</td></tr>}
            {beyond && line(selected)}
          </tbody>
        </table>
      </div>
      {rows.length > limit && (
        <p class="pages">
          {whole(limit)} of {whole(rows.length)}
          <button onClick={() => setLimit(limit + ROWS)}>show more</button>
        </p>
      )}
    </>
  );
}
