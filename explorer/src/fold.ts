// Large networks are drawn folded: a group of nodes is one square, and all links from one group to
// another are one link.
//
// What is drawn is a shape of its own, with tables from the run's nodes and links to what stands
// for them. A group unfolds where its members stand far enough apart; each set of groups that are
// folded is worked out once and kept.

import type { Network } from "./format.ts";
import { type Shape, shapeOf, spacingOf, type Zoom } from "./geometry.ts";
import { group, groupBy } from "./groups.ts";
import type { Measure } from "./measure.ts";
import { pick, type Picked } from "./pick.ts";

/** How far apart members must stand on the drawing, in pixels, to be drawn one by one. */
export const UNFOLDS = 9;
/** The most sets of folded groups that are kept. */
const KEPT = 8;

export type Drawn = ReturnType<typeof drawnOf>;

interface Place {
  x: number; y: number;
  /** Half the side of the square that its members fill, and that it is drawn as. */
  reach: number;
  half: number; spacing: number;
}

export class Folding {
  readonly whole: Drawn;
  private readonly places: Place[];
  private readonly made = new Map<string, Drawn>();

  constructor(private readonly network: Network) {
    const { nodes, groups } = network;
    const shape = shapeOf(network);
    this.whole = drawnOf(shape, Int32Array.from(nodes.x.keys()),
      Int32Array.from(network.links.from.keys()), Array(nodes.x.length).fill(null), []);
    const members = groupBy(nodes.group.map((g) => (g < 0 ? groups.length : g)), groups.length + 1);
    this.places = nodes.group.length === 0 ? [] : groups.map((_, g) => {
      const [x, y] = [shape.x, shape.y].map((at) =>
        Float64Array.from(group(members, g), (node) => at[node]));
      const [left, right, top, bottom] = [x, y].flatMap((at) =>
        [at.reduce((a, b) => Math.min(a, b), Infinity), at.reduce((a, b) => Math.max(a, b), 0)]);
      const spacing = x.length > 1 ? spacingOf(x, y) : Infinity;
      const reach = Math.max(right - left, bottom - top) / 2;
      return { x: (left + right) / 2, y: (top + bottom) / 2, reach, half: reach, spacing };
    });
    const several = this.places.filter(({ spacing }) => spacing < Infinity);
    const apart = spacingOf(...[(p: Place) => p.x, (p: Place) => p.y].map((f) =>
      Float64Array.from(several, f)) as [Float64Array, Float64Array]);
    for (const place of several) {
      place.half = Math.min(place.reach + 0.4 * place.spacing, 0.3 * apart);
    }
  }

  get folds(): boolean {
    return this.places.length > 0;
  }

  /** What is drawn at so many pixels per unit of the plane. */
  at(scale: number, fold: boolean): Drawn {
    if (!fold || !this.folds) return this.whole;
    const folded = this.places.map(({ spacing }) => spacing * scale < UNFOLDS);
    const key = folded.map(Number).join("");
    let drawn = this.made.get(key);
    if (drawn === undefined) {
      drawn = folded.includes(true) ? this.fold(folded) : this.whole;
      if (this.made.size >= KEPT) this.made.clear();
      this.made.set(key, drawn);
    }
    return drawn;
  }

  /** The zoom that unfolds a group, `fitting` being the scale by which everything fits in. */
  zoomTo(drawn: number, of: Drawn, fitting: number, room: number): Zoom {
    const { x, y, reach, spacing } = this.places[of.groups[drawn]];
    const { left, top, width, height } = this.whole.shape;
    const scale = Math.max((1.2 * UNFOLDS) / spacing, (0.35 * room) / (reach || 1));
    return { k: scale / fitting, x: (x - left) / width, y: (y - top) / height };
  }

  private fold(folded: boolean[]): Drawn {
    const { nodes, links } = this.network;
    const { shape } = this.whole;
    const standing: number[] = folded.map(() => -1);
    const places: (Place | null)[] = [];
    const groups: number[] = [];
    const [x, y]: number[][] = [[], []];
    const nodeAt = Int32Array.from(nodes.group, (g, node) => {
      if (g >= 0 && folded[g] && standing[g] >= 0) return standing[g];
      const place = g >= 0 && folded[g] ? this.places[g] : null;
      if (place !== null) standing[g] = places.length;
      groups.push(place === null ? -1 : g);
      x.push(place?.x ?? shape.x[node]);
      y.push(place?.y ?? shape.y[node]);
      return places.push(place) - 1;
    });
    const pairs = new Map<number, number>();
    const [from, to, straight]: number[][] = [[], [], []];
    const linkAt = Int32Array.from(links.from, (a, link) => {
      const [p, q] = [nodeAt[a], nodeAt[links.to[link]]];
      if (p === q && groups[p] >= 0) return -1;
      const pair = p * places.length + q;
      // Between two nodes parallel links stay apart.
      let at = groups[p] < 0 && groups[q] < 0 ? undefined : pairs.get(pair);
      if (at === undefined) {
        at = from.push(p) - 1;
        to.push(q);
        straight.push(0);
        pairs.set(pair, at);
      }
      straight[at] += 1 - shape.stub[link];
      return at;
    });
    const stubs = [...straight.keys()].filter((at) => straight[at] === 0);
    const own = shapeOf({ aspect: 1, nodes: { x, y }, links: { from, to, stubs } });
    const { left, top, width, height } = shape;
    return drawnOf({ ...own, left, top, width, height }, nodeAt, linkAt, places, groups);
  }
}

/**
 * Of a shape: what is drawn for each node and link of the run, -1 for a link inside a folded group;
 * the nodes and links that each of the drawn ones stands for; per drawn node its group where it is
 * one folded, else -1; and half a square's side.
 */
function drawnOf(
  shape: Shape, nodeAt: Int32Array, linkAt: Int32Array, places: (Place | null)[], groups: number[],
) {
  const links = shape.from.length;
  return {
    shape, nodeAt, linkAt, members: groupBy(nodeAt, shape.x.length),
    carries: groupBy(linkAt.map((at) => (at < 0 ? links : at)), links + 1),
    groups: Int32Array.from(shape.x, (_, node) => groups[node] ?? -1),
    half: Float64Array.from(places, (place) => place?.half ?? 0),
  };
}

/** For each drawn one the sum over what it stands for. */
export function sums(at: Int32Array, values: ArrayLike<number>, count: number): Float64Array {
  const result = new Float64Array(count);
  for (let i = 0; i < at.length; i++) if (at[i] >= 0) result[at[i]] += values[i];
  return result;
}

/** A measure of links as one of drawn links: sums of what adds up, means of shares. */
export function foldMeasure(measure: Measure, { linkAt, carries, shape }: Drawn): Measure {
  const values = sums(linkAt, measure.values, shape.from.length);
  if (!measure.adds) {
    for (let at = 0; at < values.length; at++) values[at] /= group(carries, at).length;
    return { ...measure, values };
  }
  return { ...measure, values, largest: values.reduce((a, b) => Math.max(a, b), 0) || 1 };
}

/**
 * What is under a point of the plane: a node or a link of the run, or one of those of a folded
 * group ("group"), or of those that a folded link stands for ("bundle").
 */
export function pickDrawn(
  drawn: Drawn, x: number, y: number, nodeReach: number, linkReach: number,
): Picked {
  const { shape, half } = drawn;
  const square = half.findIndex((h, at) =>
    h > 0 && Math.max(Math.abs(x - shape.x[at]), Math.abs(y - shape.y[at])) <= h);
  const found = square >= 0 ? { kind: "node" as const, id: square }
    : pick(shape, x, y, nodeReach, linkReach);
  if (found === null) return null;
  const node = found.kind === "node";
  const those = group(node ? drawn.members : drawn.carries, found.id);
  const several = node ? drawn.groups[found.id] >= 0 : those.length > 1;
  return { kind: several ? (node ? "group" : "bundle") : found.kind, id: those[0] };
}
