// The Gantt chart's pane: scrolls through rows, zooms and pans in time, and selects.

import type { TargetedMouseEvent, TargetedPointerEvent, TargetedWheelEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas } from "./canvas.tsx";
import { AXIS, type Chart, drawGantt, gutter, pickGantt, rowsOf } from "./gantt.ts";
import { heatWords } from "./heat.ts";
import { useView } from "./hooks.ts";
import { happening, marksOf } from "./moments.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";
import { type Gantt, GANTTS } from "./state.ts";
import { time, whole } from "./words.ts";

interface Drag {
  x: number;
  moved: boolean;
}

export function chartOf(page: Page, scroll: number, rows: Chart["rows"]): Chart {
  const { selection, critical, gantt } = page.store.view;
  return {
    loaded: page.current, rows, range: page.range, marks: marksOf(page, page.current), selection,
    critical, scroll, palette: page.palette, heat: gantt === "heat",
  };
}

export function GanttPane({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { store } = page;
  const { gantt, selection } = useView(store);
  const scroller = useRef<HTMLDivElement>(null);
  const drag = useRef<Drag | null>(null);
  const [under, setUnder] = useState("");
  // A link that is selected stays where it is in the heat.
  const first = gantt === "heat" && selection?.kind !== "node" ? null : selection;
  const rows = useMemo(() => rowsOf(loaded, gantt, first), [loaded, gantt, first]);
  const last = rows[rows.length - 1];
  const total = AXIS + (last === undefined ? 0 : last.top + last.height);
  useEffect(() => scroller.current?.scrollTo({ top: 0 }), [rows]);

  const scroll = () => scroller.current?.scrollTop ?? 0;
  const chart = () => chartOf(page, scroll(), rows);
  const at = (event: TargetedMouseEvent<HTMLCanvasElement>) =>
    pickGantt(chart(), event.offsetX, event.offsetY, event.currentTarget.clientWidth);

  const onPointerMove = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const { current } = drag;
    if (current !== null) {
      const moved = event.clientX - current.x;
      if (!current.moved && Math.abs(moved) < 4) return;
      const width = event.currentTarget.clientWidth;
      page.panRange(-moved / (width - gutter(width) - 8));
      drag.current = { x: event.clientX, moved: true };
      return;
    }
    const found = at(event);
    const [from, to] = page.range;
    const near = (5 / event.currentTarget.clientWidth) * (to - from);
    const moment = found?.moment ?? NaN;
    const happens = happening(loaded, moment - near, moment + near);
    setUnder(happens || (found === null ? "" : gantt === "heat"
      ? heatWords(loaded, found.link, found.moment) : words(loaded, found.link, found.hop)));
  };

  const onClick = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    const moved = drag.current?.moved ?? false;
    drag.current = null;
    const found = at(event);
    if (moved || found === null) return;
    if (event.offsetX < gutter(event.currentTarget.clientWidth)) {
      store.select({ kind: "link", id: found.link });
      return;
    }
    page.seek(found.moment);
    if (gantt === "heat") store.change({ selection: { kind: "link", id: found.link } });
    if (found.hop !== null && loaded.hops !== null) {
      store.change({ selection: { kind: "chunk", id: loaded.hops.chunk[found.hop] } });
    }
  };

  const onWheel = (event: TargetedWheelEvent<HTMLCanvasElement>) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const width = event.currentTarget.clientWidth;
    const share = (event.offsetX - gutter(width)) / (width - gutter(width) - 8);
    const [from, to] = page.range;
    const turn = event.deltaY === 0 ? event.deltaX : event.deltaY;
    page.scaleRange(2 ** (turn / 200), from + share * (to - from));
  };

  return (
    <section class="gantt" aria-label="Gantt chart">
      <div class="bar">
        <label>
          Gantt by{" "}
          <select
            value={gantt}
            onChange={(event) => store.change({ gantt: event.currentTarget.value as Gantt })}
          >
            {(Object.keys(GANTTS) as Gantt[]).map((key) => (
              <option key={key} value={key}>{GANTTS[key]}</option>
            ))}
          </select>
        </label>
        <button type="button" title="w" onClick={() => page.scaleRange(0.5)}>in</button>
        <button type="button" title="s" onClick={() => page.scaleRange(2)}>out</button>
        <button type="button" title="a" onClick={() => page.panRange(-0.25)}>earlier</button>
        <button type="button" title="d" onClick={() => page.panRange(0.25)}>later</button>
        <button type="button" title="f" onClick={() => store.change({ range: null })}>fit</button>
        <span class="soft under name">{under}</span>
      </div>
      <div class="rows" ref={scroller} onScroll={() => store.change({})}>
        <Canvas
          store={store} role="img"
          aria-label={`Hops over time, ${whole(rows.length)} rows. The tables say the same.`}
          draw={(pen, width, height) => drawGantt(pen, chart(), width, height)}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            drag.current = { x: event.clientX, moved: false };
          }}
          onPointerMove={onPointerMove}
          onPointerLeave={() => setUnder("")}
          onPointerCancel={() => (drag.current = null)}
          onClick={onClick}
          onWheel={onWheel}
        />
        <Spacer height={total} />
      </div>
    </section>
  );
}

/** As tall as all the rows, so that the box scrolls through them. */
function Spacer({ height }: { height: number }) {
  return <div class="spacer" style={{ height: `${height}px` }} />;
}

function words(loaded: Loaded, link: number, hop: number | null): string {
  const name = loaded.linkNames[link];
  const { hops } = loaded;
  if (hop === null || hops === null) return name;
  const [start, end] = [hops.start[hop], hops.end[hop]];
  const reduces = hops.reduces[hop] === 1 ? ", reduces" : "";
  return `${name} chunk ${whole(hops.chunk[hop])}, transfer ${whole(hops.transfer[hop])}: `
    + `${time(start)} to ${time(end)}${reduces}`;
}
