// What the network's drawing needs, gathered from the page.

import { foldMeasure } from "./fold.ts";
import { colourings, type Measure, measure } from "./measure.ts";
import type { Thing } from "./network.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";

/** The measure that a run's links are coloured by. */
export function measureOf(page: Page, loaded: Loaded): Measure {
  const { moment, colouring } = page.store.view;
  const other = loaded === page.current ? page.other : null;
  const able = colourings(loaded, other);
  return measure(loaded, able.includes(colouring) ? colouring : able[0], moment, other);
}

export type Scene = ReturnType<typeof sceneOf>;

/** `measure` is of drawn links. */
export function sceneOf(
  page: Page, loaded: Loaded, hovered: Thing, width: number, height: number,
) {
  const { moment, zoom, selection, cut, critical } = page.store.view;
  const drawn = page.drawn(loaded, width, height);
  const scale = foldMeasure(measureOf(page, loaded), drawn);
  // Two networks side by side are coloured on one scale.
  const beside = loaded === page.current ? page.other : page.current;
  if (beside !== null && !scale.signed) {
    const own = measureOf(page, beside);
    if (own.title === scale.title) {
      const { largest } = foldMeasure(own, page.drawn(beside, width, height));
      scale.largest = Math.max(scale.largest, largest);
    }
  }
  return {
    loaded, drawn, measure: scale, moment, zoom, selection, hovered, cut, critical,
    palette: page.palette,
  };
}
