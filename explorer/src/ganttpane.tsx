// The Gantt chart's pane: what its rows are, and what a click selects.

import { useMemo } from "preact/hooks";
import { Choose } from "./controls.tsx";
import { ganttOf, pickGantt, rowsOf } from "./gantt.ts";
import { heatWords } from "./heat.ts";
import { useView } from "./hooks.ts";
import type { Chart } from "./lanes.ts";
import { happening } from "./moments.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";
import { GANTTS, keysOf } from "./state.ts";
import { TimeButtons, TimePane } from "./timepane.tsx";
import { time, whole } from "./words.ts";

export function GanttPane({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { store } = page;
  const { gantt, selection } = useView(store);
  const { hops } = loaded;
  const heat = gantt === "heat";
  // A link that is selected stays where it is in the heat.
  const first = heat && selection?.kind !== "node" ? null : selection;
  const rows = useMemo(() => rowsOf(loaded, gantt, first), [loaded, gantt, first]);

  const tell = (chart: Chart, x: number, y: number, width: number) => {
    const found = pickGantt(chart, loaded, x, y, width);
    if (found === null) return "";
    const { link, hop, moment } = found;
    const near = (5 / width) * (chart.range[1] - chart.range[0]);
    return happening(loaded, moment - near, moment + near)
      || (heat ? heatWords(loaded, link, moment) : words(loaded, link, hop));
  };
  const pick = (chart: Chart, x: number, y: number, width: number) => {
    const found = pickGantt(chart, loaded, x, y, width);
    if (found === null) return;
    const { link, hop, moment, named } = found;
    if (named) {
      store.select({ kind: "link", id: link });
      return;
    }
    page.seek(moment);
    if (heat) store.change({ selection: { kind: "link", id: link } });
    else if (hops !== null && hop >= 0) {
      store.change({ selection: { kind: "chunk", id: hops.chunk[hop] } });
    }
  };
  return (
    <TimePane
      page={page} title="Gantt chart" class="gantt" rows={rows} tell={tell} pick={pick}
      label={`Hops over time, ${whole(rows.length)} rows. The tables say the same.`}
      chart={(scroll) => ganttOf(page, scroll, rows)}
    >
      <Choose
        title="Gantt by" value={gantt} onChange={(gantt) => store.change({ gantt })}
        options={keysOf(GANTTS).map((key) => [key, GANTTS[key]])}
      />
      <TimeButtons page={page} />
    </TimePane>
  );
}

function words({ linkNames, hops }: Loaded, link: number, hop: number): string {
  if (hop < 0 || hops === null) return linkNames[link];
  return `${linkNames[link]} chunk ${whole(hops.chunk[hop])}, `
    + `transfer ${whole(hops.transfer[hop])}: ${time(hops.start[hop])} to ${time(hops.end[hop])}`
    + (hops.reduces[hop] === 1 ? ", reduces" : "");
}
