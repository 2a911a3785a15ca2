// Where things are in the plane: nodes as points, links as curves.
//
// Nodes have x from 0 to 1 and y from 0 to the layout's aspect. A link is a quadratic curve that
// bows to the right of its direction, so the two directions stand apart; a parallel link bows
// further. A stub is two straight pieces instead, a little to the right too: one leaves its node
// away from the other end, the other comes to that end from beyond it.

import { quadtree } from "d3-quadtree";

export type Shape = ReturnType<typeof shapeOf>;

/** How far off a link's straight line its control point is, in lengths of the link, ... */
const BOW = 0.13;
/** ... and at most, in distances between nodes: a long link passes between two rows. */
const MOST_BOW = 0.9;
/** How far a stub's end is from its node, and how far to the side, in distances between nodes. */
const STUB = 0.6;
const STUB_ASIDE = 0.075;
const MARGIN = 40;
/** The height that the legend takes at a drawing's foot. */
export const LEGEND = 50;
/** The width that the legend takes beside a network that is narrower than its drawing. */
export const BESIDE = 175;

/** What a shape is made of: a network, or what is drawn of one. */
export interface Layout {
  aspect: number; nodes: { x: number[]; y: number[] };
  links: { from: number[]; to: number[]; stubs: number[] };
}

export function shapeOf(network: Layout) {
  const { nodes, links } = network;
  const aspect = network.aspect > 0 && Number.isFinite(network.aspect) ? network.aspect : 1;
  const x = Float64Array.from(nodes.x);
  const y = Float64Array.from(nodes.y, (value) => value * aspect);
  // The control point of each link's curve; where it is a stub, its first piece's end, and the
  // beginning of its second.
  const [controlX, controlY, returnX, returnY] =
    Array.from({ length: 4 }, () => new Float64Array(links.from.length));
  const stub = new Uint8Array(links.from.length);
  for (const link of links.stubs) stub[link] = 1;
  const spacing = spacingOf(x, y);
  const parallel = new Map<number, number>();
  for (let link = 0; link < links.from.length; link++) {
    const a = links.from[link];
    const b = links.to[link];
    const pair = a * nodes.x.length + b;
    const before = parallel.get(pair) ?? 0;
    parallel.set(pair, before + 1);
    const length = Math.hypot(x[b] - x[a], y[b] - y[a]);
    if (stub[link] === 1) {
      const [ux, uy] = length > 0 ? [(x[a] - x[b]) / length, (y[a] - y[b]) / length] : [1, 0];
      const aside = STUB_ASIDE * spacing * (1 + before);
      controlX[link] = x[a] + STUB * spacing * ux - aside * uy;
      controlY[link] = y[a] + STUB * spacing * uy + aside * ux;
      returnX[link] = x[b] - STUB * spacing * ux - aside * uy;
      returnY[link] = y[b] - STUB * spacing * uy + aside * ux;
      continue;
    }
    const bow = Math.min(BOW, (MOST_BOW * spacing) / (length || 1)) * (1 + before);
    controlX[link] = (x[a] + x[b]) / 2 - bow * (y[b] - y[a]);
    controlY[link] = (y[a] + y[b]) / 2 + bow * (x[b] - x[a]);
  }
  const between = (at: Float64Array, control: Float64Array) => control.map((c, link) =>
    stub[link] === 1 ? c : along(at[links.from[link]], c, at[links.to[link]], 0.5));
  const back = (at: Float64Array) => at.filter((_, link) => stub[link] === 1);
  const [left, width] = extent(x, between(x, controlX), back(returnX));
  const [top, height] = extent(y, between(y, controlY), back(returnY));
  // The box around all nodes and curves, and nearly the smallest distance between two nodes.
  const box = { left, top, width, height, spacing };
  const { from, to } = links;
  return { ...box, x, y, from, to, stub, controlX, controlY, returnX, returnY };
}

/** The shape as it lies on a drawing. */
export function laid(shape: Shape, { scale, x, y }: Placing): Shape {
  const across = (values: Float64Array) => values.map((value) => x + scale * value);
  const down = (values: Float64Array) => values.map((value) => y + scale * value);
  return {
    ...shape, left: x + scale * shape.left, top: y + scale * shape.top,
    width: scale * shape.width, height: scale * shape.height, spacing: scale * shape.spacing,
    x: across(shape.x), y: down(shape.y), controlX: across(shape.controlX),
    controlY: down(shape.controlY), returnX: across(shape.returnX), returnY: down(shape.returnY),
  };
}

/** The point at share `s` of a link's way: halfway a stub's first piece ends. */
export function pointOn(shape: Shape, link: number, s: number): [number, number] {
  const { x, y, controlX, controlY } = shape;
  const [a, b] = [shape.from[link], shape.to[link]];
  if (shape.stub[link] === 0) {
    return [along(x[a], controlX[link], x[b], s), along(y[a], controlY[link], y[b], s)];
  }
  const [px, py, qx, qy] = piecesOf(shape, link)[s <= 0.5 ? 0 : 1];
  const t = s <= 0.5 ? 2 * s : 2 * s - 1;
  return [px + t * (qx - px), py + t * (qy - py)];
}

/** From x, y to x, y. */
export type Piece = [number, number, number, number];

/** A stub's pieces: parallel, as far aside of both nodes as their outer ends are. */
export function piecesOf(shape: Shape, link: number): [Piece, Piece] {
  const [a, b] = [shape.from[link], shape.to[link]];
  const [ax, ay, bx, by] = [shape.x[a], shape.y[a], shape.x[b], shape.y[b]];
  const [cx, cy] = [shape.controlX[link], shape.controlY[link]];
  const [rx, ry] = [shape.returnX[link], shape.returnY[link]];
  const [asideX, asideY] = [(cx + rx - ax - bx) / 2, (cy + ry - ay - by) / 2];
  return [[ax + asideX, ay + asideY, cx, cy], [rx, ry, bx + asideX, by + asideY]];
}

/** Where values begin, and how far they reach. */
function extent(...columns: Float64Array[]): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const value of column) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  if (most - least > 1e-3) return [least, most - least];
  return least <= most ? [(least + most) / 2 - 0.5, 1] : [0, 1];
}

export function spacingOf(x: Float64Array, y: Float64Array): number {
  const tree = quadtree<number>().x((i) => x[i]).y((i) => y[i]).addAll([...x.keys()]);
  const distances: number[] = [];
  for (let i = 0; i < x.length; i++) {
    tree.remove(i);
    const j = tree.find(x[i], y[i]);
    if (j !== undefined) distances.push(Math.hypot(x[i] - x[j], y[i] - y[j]));
    tree.add(i);
  }
  distances.sort((a, b) => a - b);
  return Math.max(1e-4, distances[Math.floor(distances.length / 10)] ?? 1);
}

/** The point at share `s` of the way along a quadratic curve, one coordinate of it. */
export function along(from: number, control: number, to: number, s: number): number {
  const r = 1 - s;
  return r * r * from + 2 * r * s * control + s * s * to;
}

/** How the plane lies on a drawing: screen = scale * plane + offset. */
export interface Placing { scale: number; x: number; y: number }

/** What part of the plane is seen: enlarged by `k` around a centre (shares of width, height). */
export interface Zoom { k: number; x: number; y: number }

export const WHOLE: Zoom = { k: 1, x: 0.5, y: 0.5 };

/** The height kept free for the legend: none where there is room for it beside the network. */
export function foot(shape: Shape, width: number, height: number): number {
  const across = (Math.max(1, height - 2 * MARGIN) / shape.height) * shape.width;
  return width - across >= 2 * (BESIDE + MARGIN / 2) ? 0 : LEGEND;
}

/** The placing by which the whole plane fits in. */
export function fitting(shape: Shape, width: number, height: number): Placing {
  const below = foot(shape, width, height);
  const scale = Math.min(
    Math.max(1, width - 2 * MARGIN) / shape.width,
    Math.max(1, height - 2 * MARGIN - below) / shape.height,
  );
  return {
    scale,
    x: (width - scale * shape.width) / 2 - scale * shape.left,
    y: (height - below - scale * shape.height) / 2 - scale * shape.top,
  };
}

export function place(shape: Shape, zoom: Zoom, width: number, height: number): Placing {
  const fit = fitting(shape, width, height);
  const scale = fit.scale * zoom.k;
  return {
    scale,
    x: width / 2 - scale * (shape.left + shape.width * zoom.x),
    y: (height - foot(shape, width, height)) / 2 - scale * (shape.top + shape.height * zoom.y),
  };
}

/** The zoom that gives this placing. */
export function zoomOf(shape: Shape, placing: Placing, width: number, height: number): Zoom {
  const fit = fitting(shape, width, height);
  const centreX = (width / 2 - placing.x) / placing.scale;
  const centreY = ((height - foot(shape, width, height)) / 2 - placing.y) / placing.scale;
  return {
    k: placing.scale / fit.scale,
    x: (centreX - shape.left) / shape.width,
    y: (centreY - shape.top) / shape.height,
  };
}
