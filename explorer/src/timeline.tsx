// Play, pause, step, speed, and the slider over the traffic curve.

import type { TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import { Canvas } from "./canvas.tsx";
import { useView } from "./hooks.ts";
import { marksOf } from "./moments.ts";
import type { Page } from "./page.ts";
import { drawTraffic, MARGIN } from "./traffic.ts";
import { time } from "./words.ts";

const SPEEDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10];

export function Timeline({ page }: { page: Page }) {
  const { store, clock } = page;
  const { moment, mark, range } = useView(store);
  const [pointer, setPointer] = useState<number | null>(null);
  const at = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const canvas = event.currentTarget;
    const inside = event.clientX - canvas.getBoundingClientRect().left - MARGIN;
    return (inside / (canvas.clientWidth - 2 * MARGIN)) * clock.length;
  };
  return (
    <section class="timeline" aria-label="time">
      <div class="transport">
        <button title="back by an event (left)" onClick={() => page.step(-1)}>
          {"\u25c2|"}<span class="unseen">back by an event</span>
        </button>
        <button class="play" title="space" onClick={() => page.toggle()}>
          {clock.playing ? "pause" : "play"}
        </button>
        <button title="on by an event (right)" onClick={() => page.step(1)}>
          {"|\u25b8"}<span class="unseen">on by an event</span>
        </button>
        <label title="at 1x the whole run takes 20 seconds">
          <span class="unseen">speed</span>
          <select
            value={clock.speed}
            onChange={(event) => {
              clock.speed = Number(event.currentTarget.value);
              store.change({});
            }}
          >
            {SPEEDS.map((speed) => <option key={speed} value={speed}>{speed}x</option>)}
          </select>
        </label>
        <output class="moment" aria-label="moment">{time(moment)}</output>
        {mark !== null && (
          <span class="soft since">
            {time(Math.abs(moment - mark))} {moment < mark ? "to" : "since"} mark
          </span>
        )}
      </div>
      <Canvas
        store={store} class="slider" role="slider" tabIndex={0}
        aria-label="moment" aria-valuemin={0} aria-valuemax={clock.length} aria-valuenow={moment}
        aria-valuetext={time(moment)}
        draw={(pen, width, height) => drawTraffic(pen, {
          loaded: page.current, length: clock.length, moment: store.view.moment,
          marks: marksOf(page, page.current), range, palette: page.palette, pointer,
        }, width, height)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          page.seek(at(event));
        }}
        onPointerMove={(event) => {
          if (event.buttons === 1) page.seek(at(event));
          if (page.current.run.moments.length > 0) setPointer(at(event));
        }}
        onPointerLeave={() => setPointer(null)}
        onKeyDown={(event) => {
          const to = { Home: 0, End: clock.length }[event.key];
          if (to !== undefined) page.seek(to);
        }}
      />
    </section>
  );
}
