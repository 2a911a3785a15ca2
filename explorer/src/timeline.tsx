// Play, pause, step, speed, and the slider: the number of busy links over time, and the moments that
// matter.

import type { TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import { drawMarks, drawTimes, type Mark, Scale } from "./axis.ts";
import { Canvas } from "./canvas.tsx";
import type { Palette } from "./colour.ts";
import { useView } from "./hooks.ts";
import { happened, happening, marksOf } from "./moments.ts";
import type { Page } from "./page.ts";
import type { Pen } from "./pen.ts";
import type { Loaded } from "./run.ts";
import { shown, time, whole } from "./words.ts";

export const MARGIN = 12;

export interface Slider {
  loaded: Loaded; length: number; moment: number; marks: Mark[]; range: [number, number] | null;
  palette: Palette;
  /** Where the pointer is, as a moment. */
  pointer?: number | null;
}

export function drawTraffic(pen: Pen, slider: Slider, width: number, height: number) {
  const { palette, loaded, length, marks, pointer = null } = slider;
  const { traffic, run } = loaded;
  const base = height - 17;
  const most = Math.max(0, ...traffic);
  const time = new Scale(0, length, MARGIN, width - MARGIN);
  if (slider.range !== null) {
    const [from, to] = slider.range.map((t) => time.at(t));
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
    pen.opacity(0.28);
    pen.fill(palette.transfer);
    pen.opacity(1);
    pen.stroke(palette.transfer, 1);
  }
  const lettering = { size: 10, colour: palette.soft, halo: palette.back } as const;
  pen.words(`busy links, up to ${whole(most)} of ${whole(loaded.links)}`, MARGIN, 10, lettering);
  drawTimes(pen, palette, time, base, base + 4, height - 3);
  pen.lines([[MARGIN, base, width - MARGIN, base]]);
  pen.stroke(palette.line, 1);
  const events = happened(palette, loaded);
  drawMarks(pen, time, events, 12, base);
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
  drawMarks(pen, time, marks, 0, base + 4);
  for (const [t, words, colour] of marks.filter(([t]) => t <= length)) {
    const align = time.at(t) > width / 2 ? "end" : "start";
    const top = { completion: 22, mark: 34 }[words] ?? 10;
    pen.words(words, time.at(t) + (align === "end" ? -4 : 4), top, { ...lettering, colour, align });
  }
  pen.begin();
  pen.circle(time.at(slider.moment), base, 5);
  pen.fill(palette.accent);
}

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
