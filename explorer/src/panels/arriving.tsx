// Arrivals over time: how many chunks the slowest, the median and the fastest NPU hold, and how
// many deliveries there were.
//
// Hops are sorted into a few hundred samples by when they arrive; within a sample order doesn't
// matter. A chunk is held once it has come by the last hop of a transfer that doesn't reduce, or
// where it begins.

import { useMemo } from "preact/hooks";
import type { Quantity } from "../format.ts";
import { group, groupBy } from "../groups.ts";
import { marksOf } from "../measure.ts";
import type { Page } from "../page.ts";
import { PlotPane } from "../results/plotpane.tsx";
import { Sheet } from "../results/sheet.ts";
import type { Loaded } from "../run.ts";
import { Part } from "./facts.tsx";

const SAMPLES = 240;
const MOST_PAIRS = 2 ** 28;

/** `held` is null where there are too many NPUs and chunks to count them one by one. */
export function arrivals(loaded: Loaded) {
  const { hops, run, length } = loaded;
  if (hops === null) return null;
  const { is_switch: isSwitch } = run.network.nodes;
  const { to, latency_ps: latency } = run.network.links;
  const npus = [...isSwitch.keys()].filter((node) => isSwitch[node] === 0);
  const chunks = run.chunks.count;
  const countHeld = loaded.nodes * chunks <= MOST_PAIRS && hops.reduces.includes(0);
  const has = new Uint8Array(countHeld ? Math.ceil((loaded.nodes * chunks) / 8) : 0);
  const held = new Uint32Array(loaded.nodes);
  const take = (node: number, chunk: number) => {
    const bit = node * chunks + chunk;
    const mask = 1 << (bit & 7);
    if ((has[bit >>> 3] & mask) !== 0) return;
    has[bit >>> 3] |= mask;
    held[node]++;
  };
  if (countHeld) {
    run.chunks.source.slice(0, chunks).forEach((node, chunk) => node >= 0 && take(node, chunk));
  }
  const sample = Uint16Array.from(hops.end, (end, hop) =>
    Math.min(SAMPLES, Math.ceil(((end + latency[hops.link[hop]]) / length) * SAMPLES)));
  const bySample = groupBy(sample, SAMPLES + 1);
  const [times, delivered, slowest, median, fastest]: number[][] = [[], [], [], [], []];
  let deliveries = 0;
  for (let s = 0; s <= SAMPLES; s++) {
    for (const hop of group(bySample, s)) {
      const node = to[hops.link[hop]];
      if (isSwitch[node] === 1 || hops.arrives[hop] === 0) continue;
      deliveries++;
      if (countHeld && hops.reduces[hop] === 0) take(node, hops.chunk[hop]);
    }
    times.push((s / SAMPLES) * length);
    delivered.push(deliveries);
    const sorted = Uint32Array.from(npus, (node) => held[node]).sort();
    slowest.push(sorted[0] ?? 0);
    median.push(sorted[sorted.length >> 1] ?? 0);
    fastest.push(sorted[sorted.length - 1] ?? 0);
  }
  return { times, deliveries: delivered, held: countHeld ? { fastest, median, slowest } : null };
}

function sheetOf(title: string, times: number[], curves: Record<string, number[]>): Sheet {
  const plain = { role: "metric", better: "lower", meaning: "" } as const;
  const column = (name: string, quantity: Quantity, values: number[]) =>
    ({ ...plain, name, title: name, quantity, values });
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
