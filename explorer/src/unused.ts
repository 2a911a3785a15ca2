// Stands in for d3-interpolate and d3-transition in the bundle: d3-zoom asks for them, but this
// page's zoom jumps.

import { selection } from "d3-selection";

export const interrupt = () => {};
selection.prototype.interrupt = function () {
  return this;
};


export function interpolateZoom(): never {
  throw new Error("This part of d3 isn't in the page.");
}
