// Arrivals over time as curves, with the bound marked beside the completion.

import { useMemo } from "preact/hooks";
import { arrivals } from "../arrivals.ts";
import type { Quantity } from "../format.ts";
import { marksOf } from "../moments.ts";
import type { Page } from "../page.ts";
import { PlotPane } from "../results/plotpane.tsx";
import { Sheet } from "../results/sheet.ts";
import type { Loaded } from "../run.ts";
import { Part } from "./facts.tsx";

function sheetOf(title: string, times: number[], curves: Record<string, number[]>): Sheet {
  const column = (name: string, quantity: Quantity, values: number[]) =>
    ({ name, title: name, quantity, role: "metric", better: "lower", meaning: "", values }) as const;
  const y = Object.entries(curves).map(([name, values]) => column(name, "count", values));
  return new Sheet({
    title, notes: [], runs: [], pictures: [], columns: [column("time", "time", times), ...y],
    chart: { kind: "curves", x: "time", y: y.map(({ name }) => name), by: [], low: "", high: "" },
  });
}

export function Arriving({ page, loaded }: { page: Page; loaded: Loaded }) {
  const sheets = useMemo(() => {
    const known = arrivals(loaded);
    if (known === null) return [];
    const { times, deliveries, held } = known;
    const all = [sheetOf("Deliveries", times, { "deliveries to NPUs": deliveries })];
    return held === null ? all : [sheetOf("Chunks held by an NPU", times, held), ...all];
  }, [loaded]);
  if (sheets.length === 0) return <p class="soft">The hops aren't in this page.</p>;
  return (
    <>
      <Part loaded={loaded} />
      {sheets.map((sheet) => (
        <>
          <h3>{sheet.title}</h3>
          <PlotPane
            page={page} within={({ 0: range }) => page.store.change({ range })}
            pick={(row) => row >= 0 && page.seek(sheet.fields[0].numbers[row])}
            plot={{
              sheet, rows: [...Array(sheet.rows).keys()], plan: sheet.plan, log: [false, false],
              front: null, row: -1, marks: () => marksOf(page, loaded),
            }}
          />
        </>
      ))}
    </>
  );
}
