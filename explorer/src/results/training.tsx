// Iterations of training: what each NPU does when, how much of it is computing, and which
// communication nothing hides. Two may be seen beneath each other on one scale.

import { useMemo } from "preact/hooks";
import type { Range, Scale } from "../axis.ts";
import { hue } from "../colour.ts";
import { Choose } from "../controls.tsx";
import type { Timeline } from "../format.ts";
import {
  type Chart, drawSpans, GAP, type Row, rowAt, spanAt, type Spans, type Style,
} from "../lanes.ts";
import type { Page } from "../page.ts";
import type { Pen, Piece } from "../pen.ts";
import { numbers, Table, texts } from "../table.tsx";
import { TimeButtons, TimePane } from "../timepane.tsx";
import { share, shown, time } from "../words.ts";
import type { Choices } from "./choices.ts";

/** Pieces in order, those that touch or overlap as one. */
export function union(pieces: Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of [...pieces].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/** Calls `each` with the parts of pieces, sorted by start, that a union doesn't cover. */
export function uncovered(
  pieces: Range[], cover: Range[], each: (piece: number, from: number, to: number) => void,
) {
  let first = 0;
  pieces.forEach(([from, to], piece) => {
    while (first < cover.length && cover[first][1] <= from) first++;
    let at = from;
    for (let i = first; i < cover.length && cover[i][0] < to; i++) {
      if (cover[i][0] > at) each(piece, at, cover[i][0]);
      at = Math.max(at, cover[i][1]);
    }
    if (at < to) each(piece, at, to);
  });
}

const total = (pieces: Range[]) => pieces.reduce((sum, [from, to]) => sum + to - from, 0);

/** The spans of one kind of an NPU, by start. */
export interface Lane {
  npu: number; kind: number;
  /** Whether it is the NPU's first. */
  first: boolean;
  spans: number[];
  /** When it communicates while the NPU computes nothing. */
  exposed: Range[];
}

/** Of one NPU, in picoseconds. */
export interface Use {
  computing: number; communicating: number;
  /** By kind. */
  exposed: number[];
  idle: number;
}

const LONGEST = 20;

export class Strip {
  readonly title = shown(this.timeline.title, 60) || "timeline";
  readonly npus = this.timeline.npus.map((name) => shown(name, 40));
  readonly kinds = this.timeline.kinds.map((name) => shown(name, 40));
  readonly length: number;
  readonly lanes: Lane[] = [];
  readonly uses: Use[] = [];
  /** The spans that are exposed for the longest, and for how long. */
  readonly longest: { span: number; exposed: number }[];

  constructor(readonly timeline: Timeline) {
    const { npus, kinds, npu, kind, start, duration } = timeline;
    const piece = (span: number): Range => [start[span], start[span] + duration[span]];
    const lanes = npus.map(() => kinds.map((): number[] => []));
    let length = Math.max(1, timeline.length_ps);
    for (let span = 0; span < start.length; span++) {
      lanes[npu[span]][kind[span]].push(span);
      length = Math.max(length, piece(span)[1]);
    }
    this.length = length;
    const exposures: { span: number; exposed: number }[] = [];
    lanes.forEach((kindsOfNpu, of) => {
      for (const spans of kindsOfNpu) spans.sort((a, b) => start[a] - start[b]);
      const busy = kindsOfNpu.map((spans) => union(spans.map(piece)));
      const computing = busy[0] ?? [];
      let first = true;
      const exposed = kindsOfNpu.map((spans, k) => {
        const pieces: Range[] = [];
        if (k > 0) {
          uncovered(busy[k], computing, (_, from, to) => pieces.push([from, to]));
          const each = new Float64Array(spans.length);
          uncovered(spans.map(piece), computing, (i, from, to) => (each[i] += to - from));
          spans.forEach((span, i) => each[i] > 0 && exposures.push({ span, exposed: each[i] }));
        }
        if (spans.length > 0) this.lanes.push({ npu: of, kind: k, first, spans, exposed: pieces });
        first &&= spans.length === 0;
        return total(pieces);
      });
      this.uses.push({
        computing: total(computing), communicating: total(union(busy.slice(1).flat())), exposed,
        idle: length - total(union(busy.flat())),
      });
    });
    this.longest = exposures.sort((a, b) => b.exposed - a.exposed || a.span - b.span)
      .slice(0, LONGEST);
  }
}

const TALL = 12;
const HATCH = 5;

export const rowsOfStrip = ({ lanes, npus, kinds }: Strip): Row[] =>
  lanes.map(({ npu, kind, first }, i) => ({
    name: first ? npus[npu] : "", kind: kinds[kind], lanes: [i], lane: TALL,
    top: i * (TALL + GAP), height: TALL + GAP,
  }));

export const spansOf = ({ lanes, timeline: { start, duration } }: Strip, lane: number): Spans =>
  ({ ids: lanes[lane].spans, start, end: (span) => start[span] + duration[span], apart: false });

export function stripChart(page: Page, strip: Strip, scroll: number, rows: Row[]): Chart {
  const { palette, range } = page;
  const { name, names } = strip.timeline;
  const label = (span: number, room: number) => {
    const words = room > 24 ? shown(names[name[span]], Math.floor((room - 6) / 5.4)) : "";
    return words.length < 5 && words.endsWith("\u2026") ? "" : words;
  };
  const draw: Chart["draw"] = (pen, { lanes: [i] }, _, top, time) => {
    const { kind, exposed } = strip.lanes[i];
    const colour = kind === 0 ? palette.nodeLine : hue(palette, kind - 1);
    const style: Style = kind === 0 ? { colour, opacity: 0.8, words: { colour: palette.back } }
      : { colour, opacity: 0.5, words: { colour: palette.text, halo: palette.back } };
    drawSpans(pen, spansOf(strip, i), [style], () => 0, label, time, top, TALL);
    hatch(pen, exposed, time, top);
    pen.stroke(colour, 1.3);
  };
  return { rows, range, scroll, marks: [], palette, draw };
}

/** The hatch lies on a grid over all, so that it stands still beside its neighbours. */
function hatch(pen: Pen, pieces: Range[], time: Scale, top: number) {
  const bottom = top + TALL;
  const inside = (t: number) => Math.max(time.from, Math.min(time.to, time.at(t)));
  const lines: Piece[] = [];
  for (const piece of pieces) {
    if (piece[1] < time.low || piece[0] > time.high) continue;
    const [from, to] = piece.map(inside);
    for (let x = Math.ceil(from / HATCH) * HATCH; x < to; x += HATCH) {
      const end = Math.min(to, x + HATCH);
      lines.push([x, bottom, end, bottom - (end - x) * (TALL / HATCH)]);
    }
    lines.push([from, top, to, top], [from, bottom, to, bottom]);
  }
  pen.lines(lines);
}

interface Props { page: Page; strips: Strip[]; choices: Choices }

export function Training({ page, strips, choices }: Props) {
  const titles = strips.map(({ title }, i): [number, string] => [i, title]);
  return (
    <div class="training">
      <div class="bar">
        {strips.length > 1 && (
          <>
            <Choose
              title="timeline" value={choices.strip} options={titles}
              onChange={(strip) => page.choose({ strip })}
            />
            <Choose
              title="beside it" value={choices.beside} options={[[-1, "nothing"], ...titles]}
              onChange={(beside) => page.choose({ beside })}
            />
          </>
        )}
        <TimeButtons page={page} />
        <span class="soft">
          Hatched is communication while the NPU computes nothing. W/S zoom, A/D pan, F fits.
        </span>
      </div>
      {page.strips.map((strip, i) =>
        <StripPane key={i} page={page} strip={strip} keep={i === 0} />)}
      <div class="tables">
        {page.strips.map((strip, i) => <Uses key={i} page={page} strip={strip} />)}
      </div>
    </div>
  );
}

interface PaneProps {
  page: Page; strip: Strip;
  /** Whether the page's picture is of this one. */
  keep: boolean;
}

function StripPane({ page, strip, keep }: PaneProps) {
  const rows = useMemo(() => rowsOfStrip(strip), [strip]);
  const tell = (chart: Chart, x: number, y: number, width: number) => {
    const found = rowAt(chart, x, y, width);
    const span = found === null || found.named ? -1
      : spanAt(spansOf(strip, found.lane), found.moment);
    return span < 0 ? "" : wordsOf(strip, span);
  };
  return (
    <TimePane
      page={page} title={strip.title} class="strip" rows={rows} tell={tell} fits
      label="Spans over time. The tables say how much each NPU does of what."
      chart={(scroll) => stripChart(page, strip, scroll, rows)}
      drawn={(draw, width, height) => {
        if (keep) page.picture = () => ({ title: strip.title, width, height, draw });
      }}
    >
      <b class="name">{strip.title}</b> {time(strip.length)}
    </TimePane>
  );
}

function wordsOf({ timeline, npus, kinds }: Strip, span: number): string {
  const { start, duration, npu, kind, name, names } = timeline;
  return `${npus[npu[span]]}, ${kinds[kind[span]]}: ${shown(names[name[span]], 60)}, `
    + `${time(start[span])} to ${time(start[span] + duration[span])}`;
}

/** What each NPU does, in shares of the iteration, and what is exposed for the longest. */
function Uses({ page, strip }: Omit<PaneProps, "keep">) {
  return useMemo(() => {
    const { uses, npus, kinds, longest, length, timeline } = strip;
    const { start, duration, npu, kind, name, names } = timeline;
    const part = (title: string, of: (i: number) => number) =>
      numbers(title, of, (x) => share(x / length));
    const of = (i: number) => longest[i].span;
    const zoom = (span: number) => {
      const from = Math.max(0, start[span] - duration[span] / 2);
      page.setRange(from, Math.min(length, start[span] + 1.5 * duration[span] + 10) - from);
    };
    const some = kinds.map((_, k) => k)
      .filter((k) => k > 0 && uses.some(({ exposed }) => exposed[k] > 0));
    return (
      <div>
        <Table
          caption={`${strip.title}: shares of ${time(length)}`} rows={[...uses.keys()]}
          columns={[
            texts("NPU", (i) => npus[i]),
            part("computing", (i) => uses[i].computing),
            part("communicating", (i) => uses[i].communicating),
            ...some.map((k) => part(`exposed ${kinds[k]}`, (i) => uses[i].exposed[k])),
            part("idle", (i) => uses[i].idle),
          ]}
        />
        {longest.length > 0 && (
          <Table
            caption="Exposed for the longest" rows={[...longest.keys()]}
            pick={(i) => zoom(of(i))}
            columns={[
              texts("span", (i) => shown(names[name[of(i)]], 60)),
              texts("NPU", (i) => npus[npu[of(i)]]),
              texts("kind", (i) => kinds[kind[of(i)]]),
              numbers("from", (i) => start[of(i)], time),
              numbers("exposed", (i) => longest[i].exposed, time),
            ]}
          />
        )}
      </div>
    );
  }, [page, strip]);
}
