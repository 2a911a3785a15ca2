// What the chart shows: its kind, its columns, and whether its axes are logarithmic; and what
// filters the table: a text to be found, texts to be ticked, ranges from the chart.

import { limits, spread } from "../axis.ts";
import { Check, Choose, Menu } from "../controls.tsx";
import { brief, shown, whole } from "../words.ts";
import type { Choices } from "./choices.ts";
import { type Field, isTelling, type Plan, type Sheet } from "./sheet.ts";

interface Props {
  sheet: Sheet;
  /** Those that are shown. */
  rows: number[];
  choices: Choices; choose: (part: Partial<Choices>) => void;
}

const KINDS = ["none", "points", "curves", "parts"] as const;

export function ChartBar({ sheet, rows, choices: { log, plan: chosen }, choose }: Props) {
  const plan = chosen ?? sheet.plan;
  const { kind } = plan;
  const pairs = (fields: Field[]) =>
    fields.map(({ index, title }): [number, string] => [index, title]);
  // What is drawn already can be chosen, even where it says nothing.
  const drawn = [plan.x, ...plan.y];
  const numeric = pairs(sheet.fields.filter((field) =>
    field.numeric && (!field.empty || drawn.includes(field.index))));
  const naming = pairs(sheet.fields.filter((field) =>
    isTelling(field) && (!field.numeric || field.column.role === "key")));
  const change = (part: Partial<Plan>) => choose({
    plan: { ...plan, ...part }, front: false, log: "x" in part || "y" in part ? [null, null] : log,
  });
  // A band is around the curve that it was made for.
  const changeY = (y: number[]) => change({ y, low: -1, high: -1 });
  const one = (
    title: string, options: typeof numeric, value: number, pick: (i: number) => void, none: boolean,
  ) => (
    <Choose
      title={title} value={value} onChange={pick}
      options={none ? [[-1, "nothing"], ...options] : options}
    />
  );
  const several = (title: string, options: typeof numeric, those: number[], key: "y" | "by") => {
    const telling = those.flatMap((i) => sheet.fields[i] ?? []).filter(isTelling);
    const says = shown(telling.map(({ title }) => title).join(", "), 40) || "nothing";
    const pick = (those: number[]) => (key === "y" ? changeY(those) : change({ by: those }));
    return <Menu title={title} says={says} options={options} chosen={those} onChange={pick} />;
  };
  const logOf = (i: 0 | 1) => {
    const field = sheet.fields[i === 0 ? plan.x : plan.y[0]];
    const [low, high] = field === undefined ? [0, 1] : limits(rows, [field]);
    const on = low > 0 && (log[i] ?? spread(low, high, field.column.quantity));
    return (
      <Check
        words={`log ${"xy"[i]}`} on={on} disabled={low <= 0}
        onChange={(on) => choose({ log: i === 0 ? [on, log[1]] : [log[0], on] })}
      />
    );
  };
  const [y = -1] = plan.y;
  const by = plan.by.find((i) => isTelling(sheet.fields[i])) ?? -1;
  return (
    <div class="bar">
      <Choose
        title="chart" value={kind} options={KINDS.map((name) => [name, name])}
        onChange={(name) => change(sheet.planned(plan, name))}
      />
      {kind !== "none" && kind !== "parts"
        && one("x", numeric, plan.x, (x) => change({ x }), plan.x < 0)}
      {kind === "points" && (
        <>
          {one("y", numeric, y, (y) => changeY([y]), y < 0)}
          {one("colour", naming, by, (by) => change({ by: by < 0 ? [] : [by] }), true)}
        </>
      )}
      {(kind === "curves" || kind === "parts") && (
        <>
          {several("y", numeric, plan.y, "y")}
          {several(kind === "curves" ? "series" : "bars", naming, plan.by, "by")}
        </>
      )}
      {kind !== "none" && kind !== "parts" && [logOf(0), logOf(1)]}
    </div>
  );
}

const NO_FILTER: Partial<Choices> = { find: "", only: {}, within: {}, front: false };

export function Filters({ sheet, choices, rows, choose }: Props) {
  const { find, only, within, front } = choices;
  const without = <T,>(filters: Record<number, T>, field: number) =>
    Object.fromEntries(Object.entries(filters).filter(([key]) => Number(key) !== field));
  const tick = (field: number, ranks: number[]) =>
    choose({ only: { ...without(only, field), ...(ranks.length > 0 && { [field]: ranks }) } });
  const any = find !== "" || front || Object.keys({ ...only, ...within }).length > 0;
  return (
    <div class="bar" role="search">
      <input
        type="search" placeholder="find a text" aria-label="find a text" value={find}
        onInput={(event) => choose({ find: event.currentTarget.value })}
      />
      {sheet.fields.filter(({ choices }) => choices.length > 0).map(({ index, title, choices }) => {
        const chosen = only[index] ?? [];
        const says = chosen.length === 0 ? "all" : chosen.length > 1 ? `${chosen.length}`
          : choices[chosen[0]].slice(0, 20);
        return (
          <Menu
            key={index} title={title} says={says} chosen={chosen}
            options={choices.map((text, rank) => [rank, text.slice(0, 80)])}
            onChange={(ranks) => tick(index, ranks)}
          />
        );
      })}
      {Object.entries(within).map(([key, range]) => {
        const { title, column } = sheet.fields[Number(key)];
        const words = range.map((value) => brief(value, column.quantity)).join(" to ");
        const clear = () => choose({ within: without(within, Number(key)) });
        return <button key={key} onClick={clear}>{title}: {words} {"\u00d7"}</button>;
      })}
      {front && <button onClick={() => choose({ front: false })}>on the front {"\u00d7"}</button>}
      <span class="soft" aria-live="polite">{whole(rows.length)} of {whole(sheet.rows)} rows</span>
      <button disabled={!any} onClick={() => choose(NO_FILTER)}>clear</button>
    </div>
  );
}
