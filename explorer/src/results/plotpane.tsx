// A chart of results on a canvas: hover tells a row's numbers, a click chooses it, and a rectangle
// drawn with the pointer filters by what it holds.

import type { RefObject, TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Range } from "../axis.ts";
import { Canvas, Tip } from "../canvas.tsx";
import type { Page } from "../page.ts";
import type { Pen } from "../pen.ts";
import { BAR, drawable, type Drawn, drawPlot, lacking, MOST_BARS, type Plot } from "./plot.ts";

interface Props {
  page: Page; plot: Omit<Plot, "palette">;
  /** A row was clicked, or -1. */
  pick: (row: number) => void;
  /** A rectangle was drawn: what it holds, by column. */
  within: (ranges: Record<number, Range>) => void;
}

const CLICK = 4;
const MOST_TOLD = 14;

type Hover = { row: number; x: number; y: number } | null;

export function PlotPane({ page, plot, pick, within }: Props) {
  const drawn = useRef<Drawn | null>(null);
  const size = useRef({ width: 0, height: 0 });
  const tip = useRef((_: Hover) => {});
  const [box, setBox] = useState<[x0: number, y0: number, x1: number, y1: number] | null>(null);
  const why = lacking(plot);
  page.picture = null;
  if (why !== "") return <p class="soft">{why}</p>;
  const { kind, y } = drawable(plot);
  const bars = BAR * Math.min(MOST_BARS, plot.rows.length);
  const tall = kind === "parts" ? `${60 + 17 * Math.ceil(y.length / 3) + bars}px` : "";

  const draw = (pen: Pen, width: number, height: number) => {
    size.current = { width, height };
    drawn.current = drawPlot(pen, { ...plot, palette: page.palette }, width, height);
  };
  page.picture = () => ({ ...size.current, title: plot.sheet.title, draw });

  const drawBox = (pen: Pen, width: number, height: number) => {
    draw(pen, width, height);
    if (box === null || kind === "parts") return;
    const [x0, y0, x1, y1] = kind === "points" ? box : [box[0], 0, box[2], height];
    const corner = [Math.min(x0, x1), Math.min(y0, y1)] as const;
    pen.block(...corner, Math.abs(x1 - x0), Math.abs(y1 - y0), page.palette.accent, 0.15);
    pen.stroke(page.palette.accent, 1);
  };

  const onPointerMove = ({ offsetX: x, offsetY: y }: TargetedPointerEvent<HTMLCanvasElement>) => {
    if (box !== null) {
      setBox([box[0], box[1], x, y]);
      return;
    }
    const row = drawn.current?.find(x, y) ?? -1;
    tip.current(row < 0 ? null : { row, x, y });
  };

  const onPointerUp = ({ offsetX: x, offsetY: y }: TargetedPointerEvent<HTMLCanvasElement>) => {
    if (box === null || drawn.current === null) return;
    setBox(null);
    if (Math.hypot(x - box[0], y - box[1]) < CLICK) pick(drawn.current.find(x, y));
    else if (kind !== "parts") within(drawn.current.within(box[0], box[1], x, y));
  };

  return (
    <div class="plot" style={{ height: tall }}>
      <Canvas
        store={page.store} role="img" draw={drawBox}
        aria-label={`A chart of ${plot.rows.length} rows. The table says the same.`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          tip.current(null);
          setBox([event.offsetX, event.offsetY, event.offsetX, event.offsetY]);
        }}
        onPointerMove={onPointerMove} onPointerUp={onPointerUp}
        onPointerCancel={() => setBox(null)} onPointerLeave={() => tip.current(null)}
      />
      <RowTip plot={plot} show={tip} size={size.current} />
    </div>
  );
}

interface TipProps {
  plot: Props["plot"];
  /** Is set to what shows it: the chart isn't drawn anew wherever the pointer goes. */
  show: RefObject<(hover: Hover) => void>;
  size: { width: number; height: number };
}

function RowTip({ plot: { sheet, plan }, show, size }: TipProps) {
  const [hover, setHover] = useState<Hover>(null);
  show.current = setHover;
  if (hover === null || hover.row >= sheet.rows) return null;
  const told = [...new Set([
    ...sheet.seen.filter(({ column }) => column.role === "key"),
    ...[plan.x, ...plan.y, ...plan.by, plan.low, plan.high].flatMap((i) => sheet.fields[i] ?? []),
  ])].slice(0, MOST_TOLD);
  const rows = told.map((field): [string, string] => [field.title, field.words(hover.row, 80)]);
  return <Tip {...size} x={hover.x} y={hover.y} rows={rows} />;
}
