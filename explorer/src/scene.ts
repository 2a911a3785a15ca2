// What the network's drawing needs, gathered from the page.

import { measure } from "./measure.ts";
import type { Scene } from "./network.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";
import type { Selection } from "./state.ts";

export function sceneOf(page: Page, loaded: Loaded, hovered: Selection): Scene {
  const { moment, colouring, zoom, selection, cut, critical } = page.store.view;
  const other = loaded === page.current ? page.other : null;
  const scale = measure(loaded, colouring, moment, other);
  // Two networks side by side are coloured on one scale.
  const beside = loaded === page.current ? page.other : page.current;
  if (beside !== null && !scale.signed) {
    scale.largest = Math.max(scale.largest, measure(beside, colouring, moment, null).largest);
  }
  return {
    loaded, shape: page.placed(loaded).shape, measure: scale, moment, zoom, selection, hovered,
    cut, critical, palette: page.palette,
  };
}
