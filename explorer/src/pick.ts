// Finds what is under the pointer: the nearest node, or else the nearest link; and room for words.
//
// Nodes and links are few enough (thousands) to look at one by one, links as eight straight pieces
// each, or two for a stub.

import { piecesOf, pointOn, type Shape } from "./geometry.ts";

const CELL = 6;

/** Room on a drawing for words that mustn't overlap: a grid of cells, each taken or free. */
export class Room {
  private readonly taken = new Set<string>();

  /** Takes a box around a point, free or not. */
  keep(x: number, y: number, width: number, height: number) {
    for (const cell of cellsOf(x, y, width, height)) this.taken.add(cell);
  }

  /** Takes a box around a point where all of it is free, and says whether it was. */
  take(x: number, y: number, width: number, height: number): boolean {
    if (cellsOf(x, y, width, height).some((cell) => this.taken.has(cell))) return false;
    this.keep(x, y, width, height);
    return true;
  }
}

function cellsOf(x: number, y: number, width: number, height: number): string[] {
  const cells: string[] = [];
  for (let i = Math.floor((x - width / 2) / CELL); i <= (x + width / 2) / CELL; i++) {
    for (let j = Math.floor((y - height / 2) / CELL); j <= (y + height / 2) / CELL; j++) {
      cells.push(`${i} ${j}`);
    }
  }
  return cells;
}

const PIECES = 8;

export type Picked = { kind: "node" | "link" | "group" | "bundle"; id: number } | null;

/** What is at a point of the plane, with how far off a node and a link may be. */
export function pick(
  shape: Shape, x: number, y: number, nodeReach: number, linkReach: number,
): Picked {
  const toNode = (node: number) => Math.hypot(shape.x[node] - x, shape.y[node] - y);
  const node = nearest(shape.x.length, nodeReach, toNode);
  if (node >= 0) return { kind: "node", id: node };
  const link = nearest(shape.from.length, linkReach, (i) => toLink(shape, i, x, y, linkReach));
  return link < 0 ? null : { kind: "link", id: link };
}

/** The nearest of so many things, or -1 where none is within reach. */
function nearest(count: number, reach: number, distance: (i: number) => number): number {
  let [least, found] = [reach, -1];
  for (let i = 0; i < count; i++) {
    const d = distance(i);
    if (d < least) [least, found] = [d, i];
  }
  return found;
}

/** How far a link is off, where that may be within reach. */
function toLink(shape: Shape, link: number, x: number, y: number, reach: number): number {
  if (shape.stub[link] === 1) {
    return Math.min(...piecesOf(shape, link).map((piece) => toSegment(x, y, ...piece)));
  }
  const [a, b] = [shape.from[link], shape.to[link]];
  const far = (at: number, p: number, control: number, q: number) =>
    at < Math.min(p, q, control) - reach || at > Math.max(p, q, control) + reach;
  if (far(x, shape.x[a], shape.controlX[link], shape.x[b])
    || far(y, shape.y[a], shape.controlY[link], shape.y[b])) return Infinity;
  const points = Array.from({ length: PIECES + 1 }, (_, i) => pointOn(shape, link, i / PIECES));
  return Math.min(...points.slice(1).map((point, i) => toSegment(x, y, ...points[i], ...point)));
}

function toSegment(x: number, y: number, ax: number, ay: number, bx: number, by: number) {
  const [dx, dy] = [bx - ax, by - ay];
  const square = dx * dx + dy * dy;
  const s = square > 0 ? ((x - ax) * dx + (y - ay) * dy) / square : 0;
  const t = Math.max(0, Math.min(1, s));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
