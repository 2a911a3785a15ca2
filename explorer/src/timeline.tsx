// Play, pause, step, speed, and the slider: the number of busy links over time, and the moments
// that matter.

import type { TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import { drawMarks, drawTimes, Scale } from "./axis.ts";
import { Canvas } from "./canvas.tsx";
import { happened, happening, marksOf } from "./measure.ts";
import type { Page } from "./page.ts";
import type { Pen } from "./pen.ts";
import { useView } from "./state.ts";
import { shown, time, whole } from "./words.ts";

export const MARGIN = 12;

/** `pointer`: where the pointer is, as a moment. */
export function drawTraffic(
  pen: Pen, page: Page, width: number, height: number, pointer: number | null = null,
) {
  const { palette, current: loaded, clock: { length } } = page;
  const { range, moment } = page.store.view;
  const { traffic, run } = loaded;
  const base = height - 17;
  const most = Math.max(0, ...traffic);
  const time = new Scale(0, length, MARGIN, width - MARGIN);
  if (range !== null) {
    const [from, to] = range.map((t) => time.at(t));
    pen.block(from, 0, Math.max(1, to - from), base, palette.accent, 0.12);
  }
  if (traffic.length > 0) {
    const x = (bin: number) => time.at(Math.min(length, bin * run.bins.width_ps));
    pen.begin();
    pen.move(x(0), base);
    traffic.forEach((busy, bin) => {
      const y = base - (busy / (most || 1)) * (base - 14);
      pen.line(x(bin), y);
      pen.line(x(bin + 1), y);
    });
    pen.line(x(traffic.length), base);
    pen.shade(palette.transfer, 0.28);
    pen.stroke(palette.transfer, 1);
  }
  const lettering = { size: 10, colour: palette.soft, halo: palette.back } as const;
  pen.words(`busy links, up to ${whole(most)} of ${whole(loaded.links)}`, MARGIN, 10, lettering);
  drawTimes(pen, palette, time, base, base + 4, height - 3);
  pen.lines([[MARGIN, base, width - MARGIN, base]]);
  pen.stroke(palette.line, 1);
  const [events, marks] = [happened(palette, loaded), marksOf(page, loaded)];
  drawMarks(pen, palette, time, [...events, ...marks], 0, base + 4);
  pen.begin();
  for (const [at] of events) pen.circle(time.at(at), 12, 4);
  pen.fill(palette.dead);
  pen.stroke(palette.back, 1);
  if (pointer !== null) {
    const near = (6 / (width - 2 * MARGIN)) * length;
    const words = shown(happening(loaded, pointer - near, pointer + near), Math.floor(width / 7));
    const align = pointer > length / 2 ? "end" : "start";
    pen.words(words, time.at(pointer) + (align === "end" ? -8 : 8), 46,
      { size: 11, colour: palette.dead, halo: palette.back, align });
  }
  for (const [t, words, colour] of marks.filter(([t]) => t <= length)) {
    const align = time.at(t) > width / 2 ? "end" : "start";
    const top = { completion: 22, mark: 34 }[words] ?? 10;
    pen.words(words, time.at(t) + (align === "end" ? -4 : 4), top, { ...lettering, colour, align });
  }
  pen.begin();
  pen.circle(time.at(moment), base, 5);
  pen.fill(palette.accent);
}

const SPEEDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10];

export function Timeline({ page }: { page: Page }) {
  const { store, clock } = page;
  const { moment, mark } = useView(store);
  const [pointer, setPointer] = useState<number | null>(null);
  const at = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const canvas = event.currentTarget;
    const inside = event.clientX - canvas.getBoundingClientRect().left - MARGIN;
    return (inside / (canvas.clientWidth - 2 * MARGIN)) * clock.length;
  };
  const step = (direction: 1 | -1, words: string, key: string, sign: string) => (
    <button title={`${words} (${key})`} onClick={() => page.step(direction)} aria-label={words}>
      {sign}
    </button>
  );
  return (
    <section class="timeline" aria-label="time">
      <div class="transport">
        {step(-1, "back by an event", "left", "\u25c2|")}
        <button class="play" title="space" onClick={() => page.toggle()}>
          {clock.playing ? "pause" : "play"}
        </button>
        {step(1, "on by an event", "right", "|\u25b8")}
        <select
          value={clock.speed} aria-label="speed" title="at 1x the whole run takes 20 seconds"
          onChange={(event) => {
            clock.speed = Number(event.currentTarget.value);
            store.change({});
          }}
        >
          {SPEEDS.map((speed) => <option key={speed} value={speed}>{speed}x</option>)}
        </select>
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
        draw={(pen, width, height) => drawTraffic(pen, page, width, height, pointer)}
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
