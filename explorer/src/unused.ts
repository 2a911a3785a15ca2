// Stands in for d3-interpolate, d3-format and d3-transition in the bundle: d3-scale and d3-zoom
// ask for them, but this page's scales are of numbers, it writes its ticks itself, and its zoom
// jumps. That saves a seventh of the page.

import { selection } from "d3-selection";

export const interpolate = (a: number, b: number) => (t: number) => a * (1 - t) + b * t;
export const interpolateNumber = interpolate;
export const interrupt = () => {};
selection.prototype.interrupt = function () {
  return this;
};

function missing(): never {
  throw new Error("This part of d3 isn't in the page.");
}

export {
  missing as format, missing as formatPrefix, missing as formatSpecifier,
  missing as interpolateRound, missing as interpolateZoom, missing as piecewise,
  missing as precisionFixed, missing as precisionPrefix, missing as precisionRound,
};
