// A pane of rows over time: scrolls through them, zooms and pans in time, and tells and picks what
// is under the pointer.

import type {
  ComponentChildren, TargetedMouseEvent, TargetedPointerEvent, TargetedWheelEvent,
} from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Canvas } from "./canvas.tsx";
import { AXIS, type Chart, drawRows, gutter, type Row, scaleOf } from "./lanes.ts";
import type { Page } from "./page.ts";
import type { Pen } from "./pen.ts";

/** The buttons that zoom and pan. */
export function TimeButtons({ page }: { page: Page }) {
  return (
    <>
      <button title="w" onClick={() => page.scaleRange(0.5)}>in</button>
      <button title="s" onClick={() => page.scaleRange(2)}>out</button>
      <button title="a" onClick={() => page.panRange(-0.25)}>earlier</button>
      <button title="d" onClick={() => page.panRange(0.25)}>later</button>
      <button title="f" onClick={() => page.setRange(0, Infinity)}>fit</button>
    </>
  );
}

interface Props {
  page: Page; title: string;
  /** What the drawing is, for those who don't see it. */
  label: string;
  class: string; rows: Row[]; chart: (scroll: number) => Chart;
  tell: (chart: Chart, x: number, y: number, width: number) => string;
  pick?: (chart: Chart, x: number, y: number, width: number) => void;
  /** Is called with what draws it, at each drawing. */
  drawn?: (draw: (pen: Pen, width: number, height: number) => void, width: number, height: number)
    => void;
  /** Whether it is no higher than its rows. */
  fits?: boolean;
  children: ComponentChildren;
}

export function TimePane(props: Props) {
  const { page, title, label, rows, chart, tell, pick, drawn, fits, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const drag = useRef<{ x: number; moved: boolean } | null>(null);
  const [under, setUnder] = useState("");
  const last = rows[rows.length - 1];
  const height = `${AXIS + (last === undefined ? 0 : last.top + last.height) + 4}px`;
  useEffect(() => scroller.current?.scrollTo({ top: 0 }), [rows]);
  const now = () => chart(scroller.current?.scrollTop ?? 0);
  const draw = (pen: Pen, width: number, height: number) => drawRows(pen, now(), width, height);

  const onPointerMove = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const { clientWidth: width } = event.currentTarget;
    const { current } = drag;
    if (current === null) {
      setUnder(tell(now(), event.offsetX, event.offsetY, width));
      return;
    }
    const moved = event.clientX - current.x;
    if (!current.moved && Math.abs(moved) < 4) return;
    page.panRange(-moved / (width - gutter(width) - 8));
    drag.current = { x: event.clientX, moved: true };
  };
  const onClick = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    const moved = drag.current?.moved ?? false;
    drag.current = null;
    if (!moved) pick?.(now(), event.offsetX, event.offsetY, event.currentTarget.clientWidth);
  };
  const onWheel = (event: TargetedWheelEvent<HTMLCanvasElement>) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const turn = event.deltaY === 0 ? event.deltaX : event.deltaY;
    const at = scaleOf(page.range, event.currentTarget.clientWidth).value(event.offsetX);
    page.scaleRange(2 ** (turn / 200), at);
  };
  return (
    <section class={props.class} aria-label={title}>
      <div class="bar">
        {children}
        <span class="soft under name">{under}</span>
      </div>
      <div
        class="rows" ref={scroller} onScroll={() => page.store.change({})}
        style={{ height: fits ? `min(60vh, ${height})` : "" }}
      >
        <Canvas
          store={page.store} role="img" aria-label={label}
          draw={(pen, width, height) => {
            drawn?.(draw, width, height);
            draw(pen, width, height);
          }}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            drag.current = { x: event.clientX, moved: false };
          }}
          onPointerMove={onPointerMove} onPointerLeave={() => setUnder("")}
          onPointerCancel={() => (drag.current = null)} onClick={onClick} onWheel={onWheel}
        />
        <div class="spacer" style={{ height }} />
      </div>
    </section>
  );
}
