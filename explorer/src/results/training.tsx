// Iterations of training: what each NPU does when, how much of it is computing, and which
// communication nothing hides. Two may be seen beneath each other on one scale.

import type { TargetedPointerEvent, TargetedWheelEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Canvas } from "../canvas.tsx";
import type { Page } from "../page.ts";
import { Table } from "../table.tsx";
import { share, shown, time } from "../words.ts";
import type { Choices } from "./choices.ts";
import { Choose } from "./choose.tsx";
import { besides, drawLanes, LANE, pickSpan, scaleOf, TOP } from "./lanes.ts";
import type { Piece, Strip } from "./spans.ts";

interface Props {
  page: Page;
  strips: Strip[];
  choices: Choices;
}

const SHORTEST = 10;
const KEYS: Record<string, [factor: number, pan: number]> = {
  w: [0.5, 0], s: [2, 0], a: [1, -0.25], d: [1, 0.25], f: [Infinity, 0],
};

export function Training({ page, strips, choices }: Props) {
  const { strip: first, beside } = choices;
  const shownStrips = [strips[first], strips[beside]].filter((strip) => strip !== undefined);
  const length = Math.max(...shownStrips.map((strip) => strip.length));
  const range = (): Piece => {
    const { span } = page.store.view.choices;
    return span !== null && span[0] < length ? span : [0, length];
  };
  /** Makes the range `factor` times as long around a share of it, and moves it by a share. */
  const move = (factor: number, pan: number, around = 0.5) => {
    const [from, to] = range();
    const long = Math.min(length, Math.max(SHORTEST, (to - from) * factor));
    const begin = from + (to - from) * (around + pan) - long * around;
    const start = Math.max(0, Math.min(length - long, begin));
    page.choose({ span: long >= length ? null : [start, start + long] });
  };
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.matches("input, select, textarea")) return;
      const key = KEYS[event.key.toLowerCase()];
      if (key !== undefined) move(...key);
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  });
  const titles = strips.map(({ title }, i): [number, string] => [i, title]);
  return (
    <div class="training">
      <div class="bar">
        {strips.length > 1 && (
          <>
            <Choose
              title="timeline" value={first} options={titles}
              onChange={(strip) => page.choose({ strip })}
            />
            <Choose
              title="beside it" value={beside} options={[[-1, "nothing"], ...titles]}
              onChange={(i) => page.choose({ beside: i })}
            />
          </>
        )}
        <button type="button" title="w" onClick={() => move(0.5, 0)}>in</button>
        <button type="button" title="s" onClick={() => move(2, 0)}>out</button>
        <button type="button" title="a" onClick={() => move(1, -0.25)}>earlier</button>
        <button type="button" title="d" onClick={() => move(1, 0.25)}>later</button>
        <button type="button" title="f" onClick={() => page.choose({ span: null })}>fit</button>
        <span class="soft">
          Hatched is communication while the NPU computes nothing. W/S zoom, A/D pan, F fits.
        </span>
      </div>
      {shownStrips.map((strip, i) => (
        <StripPane
          key={i} page={page} strip={strip} range={range} move={move}
          keep={i === 0}
        />
      ))}
      <div class="tables">
        {shownStrips.map((strip, i) => <Uses key={i} page={page} strip={strip} />)}
      </div>
    </div>
  );
}

interface PaneProps {
  page: Page;
  strip: Strip;
  range: () => Piece;
  move: (factor: number, pan: number, around?: number) => void;
  /** Whether the page's picture is of this one. */
  keep: boolean;
}

function StripPane({ page, strip, range, move, keep }: PaneProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const drag = useRef<number | null>(null);
  const size = useRef({ width: 0, height: 0 });
  const [under, setUnder] = useState("");
  const lanes = () => ({
    strip, range: range(), scroll: scroller.current?.scrollTop ?? 0, palette: page.palette,
  });
  const height = TOP + LANE * strip.lanes.length + 4;
  if (keep) {
    page.picture = () => ({
      ...size.current, title: strip.title,
      draw: (pen, width, height) => drawLanes(pen, lanes(), width, height),
    });
  }
  const onPointerMove = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const width = event.currentTarget.clientWidth;
    if (drag.current !== null) {
      move(1, -(event.clientX - drag.current) / (width - besides(width)));
      drag.current = event.clientX;
      return;
    }
    const span = pickSpan(lanes(), event.offsetX, event.offsetY, width);
    setUnder(span < 0 ? "" : wordsOf(strip, span));
  };
  const onWheel = (event: TargetedWheelEvent<HTMLCanvasElement>) => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    const width = event.currentTarget.clientWidth;
    const turn = event.deltaY === 0 ? event.deltaX : event.deltaY;
    const [from, to] = range();
    const at = scaleOf([from, to], width).value(event.offsetX);
    move(2 ** (turn / 200), 0, (at - from) / (to - from));
  };
  return (
    <section class="strip" aria-label={strip.title}>
      <p class="bar">
        <b class="name">{strip.title}</b> {time(strip.length)}
        <span class="soft under name">{under}</span>
      </p>
      <div
        class="rows" ref={scroller} style={{ height: `min(60vh, ${height}px)` }}
        onScroll={() => page.store.change({})}
      >
        <Canvas
          store={page.store} role="img"
          aria-label="Spans over time. The tables say how much each NPU does of what."
          draw={(pen, width, height) => {
            size.current = { width, height };
            drawLanes(pen, lanes(), width, height);
          }}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            drag.current = event.clientX;
          }}
          onPointerMove={onPointerMove}
          onPointerUp={() => (drag.current = null)}
          onPointerCancel={() => (drag.current = null)}
          onPointerLeave={() => setUnder("")}
          onWheel={onWheel}
        />
        <div class="spacer" style={{ height: `${height}px` }} />
      </div>
    </section>
  );
}

function wordsOf({ timeline, npus, kinds }: Strip, span: number): string {
  const { start, duration, npu, kind, name, names } = timeline;
  return `${npus[npu[span]]}, ${kinds[kind[span]]}: ${shown(names[name[span]], 60)}, `
    + `${time(start[span])} to ${time(start[span] + duration[span])}`;
}

/** What each NPU does, in shares of the iteration, and what is exposed for the longest. */
function Uses({ page, strip }: { page: Page; strip: Strip }) {
  return useMemo(() => {
    const { uses, npus, kinds, longest, length, timeline } = strip;
    const { start, duration, npu, kind, name, names } = timeline;
    const part = (title: string, of: (i: number) => number) => ({
      title, value: of, words: (i: number) => share(of(i) / length),
    });
    const text = (title: string, of: (i: number) => string) => ({ title, value: of, words: of });
    const zoom = (span: number) => {
      const from = Math.max(0, start[span] - duration[span] / 2);
      const to = start[span] + Math.max(SHORTEST, 1.5 * duration[span]);
      page.choose({ span: [from, Math.min(length, to)] });
    };
    const some = kinds.map((_, k) => k)
      .filter((k) => k > 0 && uses.some(({ exposed }) => exposed[k] > 0));
    return (
      <div>
        <Table
          caption={`${strip.title}: shares of ${time(length)}`} rows={[...uses.keys()]}
          columns={[
            text("NPU", (i) => npus[i]),
            part("computing", (i) => uses[i].computing),
            part("communicating", (i) => uses[i].communicating),
            ...some.map((k) => part(`exposed ${kinds[k]}`, (i) => uses[i].exposed[k])),
            part("idle", (i) => uses[i].idle),
          ]}
        />
        {longest.length > 0 && (
          <Table
            caption="Exposed for the longest" rows={[...longest.keys()]}
            pick={(i) => zoom(longest[i].span)}
            columns={[
              text("span", (i) => shown(names[name[longest[i].span]], 60)),
              text("NPU", (i) => npus[npu[longest[i].span]]),
              text("kind", (i) => kinds[kind[longest[i].span]]),
              {
                title: "from", value: (i) => start[longest[i].span],
                words: (i) => time(start[longest[i].span]),
              },
              {
                title: "exposed", value: (i) => longest[i].exposed,
                words: (i) => time(longest[i].exposed),
              },
            ]}
          />
        )}
      </div>
    );
  }, [page, strip]);
}
