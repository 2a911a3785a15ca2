// A canvas that fills its box and is redrawn, once a frame at most, whenever the view changes.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { CanvasPen, type Pen } from "./pen.ts";
import type { Store } from "./state.ts";

interface TipProps {
  x: number; y: number;
  /** The size of the drawing. */
  width: number;
  height: number; rows: [string, string][];
}

/** What is told beside the pointer, on the side where there is room. */
export function Tip({ x, y, width, height, rows }: TipProps) {
  const beside = (at: number, most: number) =>
    (at > most / 2 ? ["auto", `${most - at + 14}px`] : [`${at + 14}px`, "auto"]);
  const [[left, right], [top, bottom]] = [beside(x, width), beside(y, height)];
  return (
    <table class="tip" style={{ left, right, top, bottom }}>
      {rows.map(([key, value]) => <tr key={key}><th>{key}</th><td class="name">{value}</td></tr>)}
    </table>
  );
}

type Props = Omit<JSX.IntrinsicElements["canvas"], "ref"> & {
  store: Store;
  draw: (pen: Pen, width: number, height: number, canvas: HTMLCanvasElement) => void;
  /** Called once, with the canvas; what it returns is called at the end. */
  attach?: (canvas: HTMLCanvasElement) => () => void;
};

export function Canvas({ store, draw, attach, ...rest }: Props) {
  const ref = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  const ask = useRef(() => {});
  latest.current = draw;
  useEffect(() => {
    const canvas = ref.current as HTMLCanvasElement;
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    let asked = 0;
    const paint = () => {
      asked = 0;
      const { clientWidth: width, clientHeight: height } = canvas;
      const ratio = Math.min(2, devicePixelRatio);
      const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== across) canvas.width = across;
      if (canvas.height !== down) canvas.height = down;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      if (width > 0 && height > 0) latest.current(new CanvasPen(context), width, height, canvas);
    };
    ask.current = () => {
      if (asked === 0) asked = requestAnimationFrame(paint);
    };
    const size = new ResizeObserver(() => ask.current());
    size.observe(canvas);
    const stop = store.listen(() => ask.current());
    const detach = attach?.(canvas);
    ask.current();
    return () => {
      stop();
      size.disconnect();
      cancelAnimationFrame(asked);
      detach?.();
    };
  }, [store]);
  useLayoutEffect(() => ask.current());
  return <canvas ref={ref} {...rest} />;
}
