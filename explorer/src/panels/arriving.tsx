// Arrivals over time as curves, with the bound marked beside the completion.

import { useMemo } from "preact/hooks";
import { arrivals } from "../arrivals.ts";
import { Chart } from "../chart.tsx";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { Part } from "./facts.tsx";

export function Arriving({ page, loaded }: { page: Page; loaded: Loaded }) {
  const curves = useMemo(() => arrivals(loaded), [loaded]);
  if (curves === null) return <p class="soft">The hops aren't in this page.</p>;
  const { run } = loaded;
  const marks: [string, number][] = [["completion", run.completion_ps]];
  if (run.bound_ps !== null) marks.push(["bound", run.bound_ps]);
  const { held } = curves;
  return (
    <>
      <Part loaded={loaded} />
      {held !== null && (
        <>
          <h3>Chunks held by an NPU</h3>
          <Chart
            page={page} marks={marks} times={curves.times} end={loaded.length}
            series={[
              ["fastest", held.fastest], ["median", held.median], ["slowest", held.slowest],
            ]}
          />
        </>
      )}
      <h3>Deliveries</h3>
      <Chart
        page={page} marks={marks} times={curves.times} end={loaded.length}
        series={[["deliveries to NPUs", curves.deliveries]]}
      />
    </>
  );
}
