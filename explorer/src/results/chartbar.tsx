// What the chart shows: its kind, its columns, and whether its axes are logarithmic.

import { limits, spread } from "../axis.ts";
import { shown } from "../words.ts";
import type { Choices } from "./choices.ts";
import { Check, Choose, Menu } from "../controls.tsx";
import { type Field, isTelling, type Plan, type Sheet } from "./sheet.ts";

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
