// What the chart shows: its kind, its columns, and whether its axes are logarithmic; and what filters
// the table: a text to be found, texts to be ticked, ranges from the chart.

import { limits, spread } from "../axis.ts";
import { Check, Choose, Menu } from "../controls.tsx";
import { shown, whole } from "../words.ts";
import type { Choices } from "./choices.ts";
import { type Field, isTelling, type Plan, type Sheet } from "./sheet.ts";
import { brief } from "./written.ts";

interface Props {
  sheet: Sheet;
  choices: Choices;
  shown: number;
  choose: (part: Partial<Choices>) => void;
}

export const NO_FILTER: Partial<Choices> = { find: "", only: {}, within: {}, front: false };

export function Filters({ sheet, choices, shown, choose }: Props) {
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
      {sheet.fields.filter(({ choices }) => choices.length > 0).map((field) => {
        const chosen = only[field.index] ?? [];
        const says = chosen.length === 0 ? "all" : chosen.length > 1 ? `${chosen.length}`
          : field.choices[chosen[0]].slice(0, 20);
        return (
          <Menu
            key={field.index} title={field.title} says={says} chosen={chosen}
            options={field.choices.map((text, rank) => [rank, text.slice(0, 80)])}
            onChange={(ranks) => tick(field.index, ranks)}
          />
        );
      })}
      {Object.entries(within).map(([key, range]) => {
        const { title, column } = sheet.fields[Number(key)];
        const [low, high] = range.map((value) => brief(value, column.quantity));
        return (
          <button
            key={key} title="let all through again"
            onClick={() => choose({ within: without(within, Number(key)) })}
          >
            {title}: {low} to {high} {"\u00d7"}
          </button>
        );
      })}
      {front && <button onClick={() => choose({ front: false })}>on the front {"\u00d7"}</button>}
      <span class="soft" aria-live="polite">{whole(shown)} of {whole(sheet.rows)} rows</span>
      <button disabled={!any} onClick={() => choose(NO_FILTER)}>clear</button>
    </div>
  );
}

interface Props {
  sheet: Sheet;
  plan: Plan;
  rows: number[];
  log: Choices["log"];
  choose: (part: Partial<Choices>) => void;
}

const KINDS = ["none", "points", "curves", "parts"] as const;
const BY = { none: "", points: "colour", curves: "series", parts: "bars" };

export function ChartBar({ sheet, plan, rows, log, choose }: Props) {
  const numeric = sheet.fields.filter((field) => field.numeric && !field.empty);
  const naming = sheet.fields.filter((field) =>
    isTelling(field) && (!field.numeric || field.column.role === "key"));
  const pairs = (fields: Field[]) =>
    fields.map(({ index, title }): [number, string] => [index, title]);
  const says = (indices: number[]) => shown(indices.flatMap((i) => sheet.fields[i] ?? [])
    .filter(isTelling).map(({ title }) => title).join(", "), 40) || "nothing";
  const change = (part: Partial<Plan>) => choose({
    plan: { ...plan, ...part }, front: false,
    log: "x" in part || "y" in part ? [null, null] : log,
  });
  // A band is around the curve that it was made for.
  const changeY = (y: number[]) => change({ y, low: -1, high: -1 });
  const { kind } = plan;
  const one = (title: string, fields: Field[], value: number, pick: (i: number) => void) => {
    const options = pairs(fields);
    if (value < 0 || title === BY.points) options.unshift([-1, "nothing"]);
    return <Choose title={title} value={value} options={options} onChange={pick} />;
  };
  const several = (title: string, fields: Field[], chosen: number[], pick: (y: number[]) => void) =>
    <Menu
      title={title} says={says(chosen)} options={pairs(fields)} chosen={chosen} onChange={pick}
    />;
  const logs = (["x", "y"] as const).map((name, i) => {
    const field = sheet.fields[i === 0 ? plan.x : plan.y[0]];
    const [low, high] = field === undefined ? [0, 1] : limits(rows, [field]);
    const on = log[i] ?? (field !== undefined && spread(low, high, field.column.quantity));
    return (
      <Check
        key={name} words={`log ${name}`} on={on && low > 0} disabled={low <= 0}
        onChange={() => choose({ log: i === 0 ? [!on, log[1]] : [log[0], !on] })}
      />
    );
  });
  return (
    <div class="bar">
      <Choose
        title="chart" value={kind} options={KINDS.map((name) => [name, name])}
        onChange={(name) => change(sheet.planned(plan, name))}
      />
      {(kind === "points" || kind === "curves") && one("x", numeric, plan.x, (x) => change({ x }))}
      {kind === "points" && one("y", numeric, plan.y[0] ?? -1, (y) => changeY([y]))}
      {(kind === "curves" || kind === "parts") && several("y", numeric, plan.y, changeY)}
      {kind === "points"
        && one(BY.points, naming, plan.by[0] ?? -1, (by) => change({ by: by < 0 ? [] : [by] }))}
      {(kind === "curves" || kind === "parts")
        && several(BY[kind], naming, plan.by, (by) => change({ by }))}
      {(kind === "points" || kind === "curves") && logs}
    </div>
  );
}
