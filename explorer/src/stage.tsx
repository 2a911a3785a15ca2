// The network's pane: the drawing, pan and zoom, what the pointer is over, and selection.

import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";
import type { TargetedMouseEvent } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import { Canvas, Tip } from "./canvas.tsx";
import { describe, describeFolded } from "./describe.ts";
import { pickDrawn } from "./fold.ts";
import { fitting, place, zoomOf } from "./geometry.ts";
import { group } from "./groups.ts";
import { drawNetwork, measureOf, MOST_MOVING, radiusOf, sceneOf, type Thing } from "./network.ts";
import type { Page } from "./page.ts";
import type { Pen } from "./pen.ts";
import type { Loaded } from "./run.ts";
import type { Selection } from "./state.ts";
import { whole } from "./words.ts";

/** d3-zoom keeps an element's transform in this property. */
type Zoomed = HTMLCanvasElement & { __zoom: ZoomTransform };

export function Stage({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { store } = page;
  const [hover, setHover] = useState<{ thing: Thing; x: number; y: number } | null>(null);
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const shown = useRef(loaded);
  shown.current = loaded;

  const draw = (pen: Pen, width: number, height: number, element: HTMLCanvasElement) => {
    const { shape } = page.drawn(loaded, width, height);
    const { zoom: seen } = store.view;
    const fit = fitting(shape, width, height);
    const placing = place(shape, seen, width, height);
    (element as Zoomed).__zoom = zoomIdentity
      .translate(placing.x - seen.k * fit.x, placing.y - seen.k * fit.y)
      .scale(seen.k);
    drawNetwork(pen, sceneOf(page, loaded, hover?.thing ?? null, width, height), width, height);
  };

  const attach = useCallback((element: HTMLCanvasElement) => {
    canvas.current = element;
    const behaviour = zoom<HTMLCanvasElement, unknown>().scaleExtent([0.5, 400])
      .on("zoom", ({ transform }: { transform: ZoomTransform }) => {
        const { clientWidth: width, clientHeight: height } = element;
        const { shape } = page.folding(shown.current).whole;
        const fit = fitting(shape, width, height);
        store.change({
          zoom: zoomOf(shape, {
            scale: fit.scale * transform.k,
            x: transform.k * fit.x + transform.x,
            y: transform.k * fit.y + transform.y,
          }, width, height),
        });
      });
    const selected = select(element).call(behaviour).on("dblclick.zoom", null);
    return () => selected.on(".zoom", null);
  }, [page]);

  const under = (event: MouseEvent): Thing => {
    const element = event.currentTarget as HTMLCanvasElement;
    const drawn = page.drawn(loaded, element.clientWidth, element.clientHeight);
    const { shape } = drawn;
    const placing = place(shape, store.view.zoom, element.clientWidth, element.clientHeight);
    const box = element.getBoundingClientRect();
    return pickDrawn(
      drawn,
      (event.clientX - box.left - placing.x) / placing.scale,
      (event.clientY - box.top - placing.y) / placing.scale,
      (radiusOf(placing.scale * shape.spacing) + 3) / placing.scale,
      7 / placing.scale,
    );
  };

  const onMouseMove = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    if (event.buttons !== 0) return;
    const thing = under(event);
    setHover(thing === null ? null : { thing, x: event.offsetX, y: event.offsetY });
  };

  const onClick = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    const thing = under(event);
    const { clientWidth: width, clientHeight: height } = event.currentTarget;
    const folding = page.folding(loaded);
    const drawn = page.drawn(loaded, width, height);
    if (thing?.kind === "group") {
      const { scale } = fitting(folding.whole.shape, width, height);
      const node = drawn.nodeAt[thing.id];
      store.change({ zoom: folding.zoomTo(node, drawn, scale, Math.min(width, height)) });
      setHover(null);
      return;
    }
    if (thing?.kind !== "bundle") {
      store.select(thing as Selection);
      return;
    }
    const { values } = measureOf(page, loaded);
    const those = group(drawn.carries, drawn.linkAt[thing.id]);
    const id = those.reduce((a, b) => (values[b] > values[a] ? b : a));
    store.select({ kind: "link", id });
  };

  const words = (thing: Thing): [string, string][] =>
    thing?.kind === "group" || thing?.kind === "bundle"
      ? describeFolded(loaded, thing, page.drawn(loaded, width, height), measureOf(page, loaded),
        store.view.moment)
      : describe(loaded, thing, store.view.moment);

  const flying = loaded.hops?.flights.at(store.view.moment) ?? 0;
  const width = canvas.current?.clientWidth ?? 0;
  const height = canvas.current?.clientHeight ?? 0;
  return (
    <div class="stage">
      <Canvas
        store={store} draw={draw} attach={attach} role="img" class="network"
        aria-label={`The network; ${whole(flying)} hops in flight. The tables say the same.`}
        onMouseMove={onMouseMove}
        onMouseLeave={() => setHover(null)}
        onClick={onClick}
      />
      <div class="corner start">
        {page.other !== null && <span class="name label">{loaded.run.label.slice(0, 200)}</span>}
        {flying > MOST_MOVING && (
          <span>{whole(flying)} in flight: links show counts above one</span>
        )}
      </div>
      {hover !== null && (
        <Tip x={hover.x} y={hover.y} width={width} height={height} rows={words(hover.thing)} />
      )}
    </div>
  );
}
