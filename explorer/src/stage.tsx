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

interface Hover { thing: NonNullable<Thing>; x: number; y: number }

export function Stage({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { store } = page;
  const [hover, setHover] = useState<Hover | null>(null);
  const shown = useRef(loaded);
  const size = useRef({ width: 0, height: 0 });
  shown.current = loaded;

  const draw = (pen: Pen, width: number, height: number, element: HTMLCanvasElement) => {
    size.current = { width, height };
    const { shape } = page.drawn(loaded, width, height);
    const fit = fitting(shape, width, height);
    const { k } = store.view.zoom;
    const { x, y } = place(shape, store.view.zoom, width, height);
    (element as Zoomed).__zoom = zoomIdentity.translate(x - k * fit.x, y - k * fit.y).scale(k);
    drawNetwork(pen, sceneOf(page, loaded, hover?.thing ?? null, width, height), width, height);
  };

  const attach = useCallback((element: HTMLCanvasElement) => {
    const behaviour = zoom<HTMLCanvasElement, unknown>().scaleExtent([0.5, 400])
      .on("zoom", ({ transform: { k, x, y } }: { transform: ZoomTransform }) => {
        const { clientWidth: width, clientHeight: height } = element;
        const { shape } = page.folding(shown.current).whole;
        const fit = fitting(shape, width, height);
        const placing = { scale: fit.scale * k, x: k * fit.x + x, y: k * fit.y + y };
        store.change({ zoom: zoomOf(shape, placing, width, height) });
      });
    const selected = select(element).call(behaviour).on("dblclick.zoom", null);
    return () => selected.on(".zoom", null);
  }, [page]);

  const drawn = () => page.drawn(loaded, size.current.width, size.current.height);
  const under = ({ offsetX, offsetY }: MouseEvent): Thing => {
    const { shape } = drawn();
    const { scale, x, y } = place(shape, store.view.zoom, size.current.width, size.current.height);
    const reach = (radiusOf(scale * shape.spacing) + 3) / scale;
    return pickDrawn(drawn(), (offsetX - x) / scale, (offsetY - y) / scale, reach, 7 / scale);
  };

  const onMouseMove = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    if (event.buttons !== 0) return;
    const thing = under(event);
    setHover(thing && { thing, x: event.offsetX, y: event.offsetY });
  };

  const onClick = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    const thing = under(event);
    const { carries, linkAt, nodeAt } = drawn();
    if (thing?.kind === "group") {
      const { width, height } = size.current;
      const folding = page.folding(loaded);
      const { scale } = fitting(folding.whole.shape, width, height);
      const room = Math.min(width, height);
      store.change({ zoom: folding.zoomTo(nodeAt[thing.id], drawn(), scale, room) });
      setHover(null);
    } else if (thing?.kind === "bundle") {
      const { values } = measureOf(page, loaded);
      const those = group(carries, linkAt[thing.id]);
      store.select({ kind: "link", id: those.reduce((a, b) => (values[b] > values[a] ? b : a)) });
    } else store.select(thing as Selection);
  };

  const words = (thing: NonNullable<Thing>) => (thing.kind === "group" || thing.kind === "bundle"
    ? describeFolded(loaded, thing, drawn(), measureOf(page, loaded), store.view.moment)
    : describe(loaded, thing, store.view.moment));
  const flying = loaded.hops?.flights.at(store.view.moment).length ?? 0;
  return (
    <div class="stage">
      <Canvas
        store={store} draw={draw} attach={attach} role="img" class="network"
        aria-label={`The network; ${whole(flying)} hops in flight. The tables say the same.`}
        onMouseMove={onMouseMove} onMouseLeave={() => setHover(null)} onClick={onClick}
      />
      <div class="corner start">
        {page.other !== null && <span class="name label">{loaded.run.label.slice(0, 200)}</span>}
        {flying > MOST_MOVING
          && <span>{whole(flying)} in flight: links show counts above one</span>}
      </div>
      {hover !== null
        && <Tip {...size.current} x={hover.x} y={hover.y} rows={words(hover.thing)} />}
    </div>
  );
}
