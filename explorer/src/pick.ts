// Finds what is under the pointer: the nearest node, or else the nearest link; and room for words.
// 
// Nodes stand in a quadtree. Links are few enough (thousands) to look at one by one, as eight
// straight pieces each, or two for a stub.

import { type Quadtree, quadtree } from "d3-quadtree";
import { piecesOf, pointOn, type Shape } from "./geometry.ts";

const CELL = 6;

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

export class Picker {
  private readonly nodes: Quadtree<number>;

  constructor(private readonly shape: Shape) {
    this.nodes = quadtree<number>()
      .x((i) => shape.x[i])
      .y((i) => shape.y[i])
      .addAll([...shape.x.keys()]);
  }

  /** At a point of the plane, with how far off a node and a link may be. */
  at(x: number, y: number, nodeReach: number, linkReach: number): Picked {
    const node = this.nodes.find(x, y, nodeReach);
    if (node !== undefined) return { kind: "node", id: node };
    const link = this.nearestLink(x, y, linkReach);
    return link === null ? null : { kind: "link", id: link };
  }

  private nearestLink(x: number, y: number, reach: number): number | null {
    const { shape } = this;
    const { from, to } = shape;
    let best: number | null = null;
    let distance = reach;
    for (let link = 0; link < from.length; link++) {
      const [ax, ay] = [shape.x[from[link]], shape.y[from[link]]];
      const [bx, by] = [shape.x[to[link]], shape.y[to[link]]];
      const [cx, cy] = [shape.controlX[link], shape.controlY[link]];
      const consider = (px: number, py: number, qx: number, qy: number) => {
        const d = toSegment(x, y, px, py, qx, qy);
        if (d >= distance) return;
        distance = d;
        best = link;
      };
      if (shape.stub[link] === 1) {
        for (const piece of piecesOf(shape, link)) consider(...piece);
        continue;
      }
      if (x < Math.min(ax, bx, cx) - reach || x > Math.max(ax, bx, cx) + reach) continue;
      if (y < Math.min(ay, by, cy) - reach || y > Math.max(ay, by, cy) + reach) continue;
      let [px, py] = [ax, ay];
      for (let piece = 1; piece <= PIECES; piece++) {
        const [qx, qy] = pointOn(shape, link, piece / PIECES);
        consider(px, py, qx, qy);
        [px, py] = [qx, qy];
      }
    }
    return best;
  }
}

function toSegment(x: number, y: number, ax: number, ay: number, bx: number, by: number) {
  const [dx, dy] = [bx - ax, by - ay];
  const square = dx * dx + dy * dy;
  const s = square > 0 ? ((x - ax) * dx + (y - ay) * dy) / square : 0;
  const t = Math.max(0, Math.min(1, s));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
