// Stands in for d3-transition in the bundle: nothing on the page moves by transitions, and d3-zoom
// asks only to interrupt them.

export const interrupt = () => {};
