// A chart of results on a canvas: hover tells a row's numbers, a click chooses it, and a rectangle
// drawn with the pointer filters by what it holds.

import type { RefObject, TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { Canvas } from "../canvas.tsx";
import type { Page } from "../page.ts";
import type { Pen } from "../pen.ts";
import type { Choices } from "./choices.ts";
import { BAR, drawPlot, type Drawn, lacking, MOST_BARS, type Plot } from "./plot.ts";

interface Props {
  page: Page;
  plot: Omit<Plot, "palette">;
  choose: (part: Partial<Choices>) => void;
}

const CLICK = 4;
const MOST_TOLD = 14;

type Hover = { row: number; x: number; y: number } | null;
type Box = [x0: number, y0: number, x1: number, y1: number];

export function PlotPane({ page, plot, choose }: Props) {
  const drawn = useRef<Drawn | null>(null);
  const size = useRef({ width: 0, height: 0 });
  const tip = useRef((_: Hover) => {});
  const [box, setBox] = useState<Box | null>(null);
  const why = lacking(plot);
  if (why !== "") {
    page.picture = null;
    return <p class="soft">{why}</p>;
  }
  const { sheet, rows, plan } = plot;
  const parts = plan.kind === "parts";
  const tall = parts ? `${64 + BAR * Math.min(MOST_BARS, rows.length)}px` : "";

  const draw = (pen: Pen, width: number, height: number) => {
    size.current = { width, height };
    drawn.current = drawPlot(pen, { ...plot, palette: page.palette }, width, height);
  };
  page.picture = () => ({ ...size.current, title: sheet.title, draw });

  const drawBox = (pen: Pen, width: number, height: number) => {
    draw(pen, width, height);
    if (box === null) return;
    const [x0, y0, x1, y1] = box;
    pen.begin();
    pen.box(Math.min(x0, x1), plan.kind === "points" ? Math.min(y0, y1) : 0, Math.abs(x1 - x0),
      plan.kind === "points" ? Math.abs(y1 - y0) : height);
    pen.opacity(0.15);
    pen.fill(page.palette.accent);
    pen.opacity(1);
    pen.stroke(page.palette.accent, 1);
  };

  const onPointerMove = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    const { offsetX: x, offsetY: y } = event;
    if (box !== null) {
      setBox([box[0], box[1], x, y]);
      return;
    }
    const row = drawn.current?.find(x, y) ?? -1;
    tip.current(row < 0 ? null : { row, x, y });
  };

  const onPointerUp = (event: TargetedPointerEvent<HTMLCanvasElement>) => {
    if (box === null || drawn.current === null) return;
    setBox(null);
    const [x0, y0, x1, y1] = [box[0], box[1], event.offsetX, event.offsetY];
    if (Math.hypot(x1 - x0, y1 - y0) < CLICK) {
      const row = drawn.current.find(x1, y1);
      choose({ row: row === plot.row ? -1 : row });
    } else if (!parts) {
      const { within } = page.store.view.choices;
      choose({ within: { ...within, ...drawn.current.within(x0, y0, x1, y1) } });
    }
  };

  return (
    <div class="plot" style={{ height: tall }}>
      <Canvas
        store={page.store} role="img" draw={drawBox}
        aria-label={`A chart of ${rows.length} rows. The table says the same.`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          tip.current(null);
          setBox([event.offsetX, event.offsetY, event.offsetX, event.offsetY]);
        }}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => setBox(null)}
        onPointerLeave={() => tip.current(null)}
      />
      <Tip plot={plot} show={tip} size={size.current} />
    </div>
  );
}

interface TipProps {
  plot: Props["plot"];
  /** Is set to what shows it: the chart isn't drawn anew wherever the pointer goes. */
  show: RefObject<(hover: Hover) => void>;
  size: { width: number; height: number };
}

function Tip({ plot: { sheet, plan }, show, size }: TipProps) {
  const [hover, setHover] = useState<Hover>(null);
  show.current = setHover;
  if (hover === null || hover.row >= sheet.rows) return null;
  const told = [...new Set([
    ...sheet.seen.filter(({ column }) => column.role === "key"),
    ...[plan.x, ...plan.y, ...plan.by, plan.low, plan.high].flatMap((i) => sheet.fields[i] ?? []),
  ])].slice(0, MOST_TOLD);
  const beside = (at: number, most: number): [string, string] =>
    (at > most / 2 ? ["auto", `${most - at + 14}px`] : [`${at + 14}px`, "auto"]);
  const [left, right] = beside(hover.x, size.width);
  const [top, bottom] = beside(hover.y, size.height);
  return (
    <table class="tip" style={{ left, right, top, bottom }}>
      {told.map((field) => (
        <tr key={field.index}>
          <th>{field.title}</th><td class="name">{field.words(hover.row, 80)}</td>
        </tr>
      ))}
    </table>
  );
}
