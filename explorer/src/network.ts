// Draws the network at a moment: links, what moves along them, nodes, and a legend.
//
// Links are sorted into the ramp's steps and each step is one path, so thousands of links are a
// few strokes. Where very many hops are in flight, links show their number instead.

import { diverging, type Palette, ramp, STEPS } from "./colour.ts";
import { type Drawn, sums } from "./fold.ts";
import { BESIDE, foot, laid, piecesOf, place, pointOn, type Shape, type Zoom } from "./geometry.ts";
import { group } from "./groups.ts";
import { inFlight, type Measure } from "./measure.ts";
import { type Dead, deadAt } from "./moments.ts";
import { type Pen, widthOf } from "./pen.ts";
import type { Picked } from "./pick.ts";
import { Room } from "./room.ts";
import type { Loaded } from "./run.ts";
import type { Selection } from "./state.ts";
import { shown, whole } from "./words.ts";

/** More hops than this in flight are counted, not moved. */
export const MOST_MOVING = 6000;

/** What can be pointed at. */
export type Thing = Selection | Picked;

export interface Scene {
  loaded: Loaded;
  drawn: Drawn;
  /** Of drawn links. */
  measure: Measure;
  moment: number;
  zoom: Zoom;
  selection: Selection;
  hovered: Thing;
  cut: boolean;
  critical: boolean;
  palette: Palette;
}

/** Of so many links, those no longer than this are drawn straight, as that is faster. */
const STRAIGHT = 24;
const MANY = 300;
/** Nodes no larger than this are dots. */
const SMALL = 3;

/** The radius of a node on a drawing, from the distance between nodes on it. */
export const radiusOf = (spacing: number) => Math.max(1.6, Math.min(26, 0.26 * spacing));

export function drawNetwork(pen: Pen, scene: Scene, width: number, height: number) {
  const view = new Drawing(pen, scene, width, height);
  const below = foot(scene.drawn.shape, width, height);
  pen.within(0, 0, width, Math.max(0, height - below), () => {
    view.links();
    view.transfers();
    view.nodes();
  });
  view.legend(width, height, below === 0);
}

class Drawing {
  private readonly shape: Shape;
  private readonly x: Float64Array;
  private readonly y: Float64Array;
  private readonly visible: Uint8Array;
  private readonly spacing: number;
  private readonly radius: number;
  /** Whether there is room for the names of nodes. */
  private readonly named: boolean;
  /** How far outside a node the cut's mark is. */
  private readonly rim: number;
  /** What the widths of lines are multiplied by. */
  private readonly thin: number;
  /** Per link: 0 faded, 1 as usual, 2 lit (passed), 3 lit (to come). */
  private readonly light: Uint8Array;
  private readonly from: number[];
  private readonly to: number[];
  /** Pixels per unit of the plane. */
  private readonly scale: number;
  private readonly dead: Dead;
  /** Per drawn link: how many of those that it stands for are dead. */
  private readonly deadOf: Float64Array;

  constructor(
    private readonly pen: Pen, private readonly scene: Scene,
    private readonly width: number, private readonly height: number,
  ) {
    const { loaded } = scene;
    const { shape, linkAt } = scene.drawn;
    const placing = place(shape, scene.zoom, width, height);
    this.scale = placing.scale;
    this.shape = laid(shape, placing);
    const { stub, controlX, controlY, returnX, returnY } = this.shape;
    this.x = this.shape.x;
    this.y = this.shape.y;
    this.spacing = this.shape.spacing;
    this.radius = radiusOf(this.spacing);
    this.named = this.spacing >= 38 && this.radius >= 6;
    this.rim = Math.max(1.5, Math.min(5, 0.3 * this.radius));
    this.thin = Math.max(0.25, Math.min(1.3, this.spacing / 60));
    this.from = shape.from;
    this.to = shape.to;
    this.dead = deadAt(loaded, scene.moment);
    this.deadOf = sums(linkAt, this.dead.link, this.from.length);
    this.visible = new Uint8Array(this.from.length);
    const { min, max } = Math;
    const { x, y } = this;
    for (let link = 0; link < this.visible.length; link++) {
      const [a, b] = [this.from[link], this.to[link]];
      const [cx, cy] = [controlX[link], controlY[link]];
      const seen = (px: number, py: number, qx: number, qy: number) =>
        max(px, qx) >= 0 && min(px, qx) <= width && max(py, qy) >= 0 && min(py, qy) <= height;
      this.visible[link] = Number(stub[link] === 1
        ? seen(x[a], y[a], cx, cy) || seen(x[b], y[b], returnX[link], returnY[link])
        : seen(min(x[a], x[b], cx), min(y[a], y[b], cy), max(x[a], x[b], cx), max(y[a], y[b], cy)));
    }
    this.light = this.lights();
  }

  links() {
    const { pen, scene } = this;
    const { palette, measure, drawn } = scene;
    const colours = measure.signed ? diverging(palette.dark) : ramp(palette.dark);
    const { thin } = this;
    const steps: number[][] = Array.from({ length: STEPS }, () => []);
    const idle: number[] = [];
    const faded: number[] = [];
    const dead: number[] = [];
    const passed: number[] = [];
    const toCome: number[] = [];
    const crossed: number[] = [];
    for (let link = 0; link < this.visible.length; link++) {
      if (this.visible[link] === 0) continue;
      const value = measure.values[link] / measure.largest;
      const part = measure.signed ? (value + 1) / 2 : value;
      const step = Math.max(0, Math.min(STEPS - 1, Math.floor(part * STEPS)));
      if (this.deadOf[link] > 0) crossed.push(link);
      if (this.deadOf[link] === group(drawn.carries, link).length) dead.push(link);
      else if (this.light[link] === 0) faded.push(link);
      else if (this.light[link] > 1) (this.light[link] === 2 ? passed : toCome).push(link);
      else if (value === 0) idle.push(link);
      else steps[step].push(link);
    }
    this.under();
    pen.opacity(0.35);
    this.paths(faded);
    pen.stroke(palette.idle, 0.8 * thin);
    pen.opacity(1);
    this.paths(idle);
    pen.stroke(palette.idle, 1.1 * thin);
    this.arrows(idle, palette.idle, thin);
    this.paths(dead);
    pen.stroke(palette.dead, 1.1 * thin, [3, 3]);
    steps.forEach((links, step) => {
      if (links.length === 0) return;
      const much = measure.signed ? Math.abs(2 * step - STEPS + 1) / (STEPS - 1) : step / STEPS;
      this.paths(links);
      pen.stroke(colours[step], (1.3 + 3 * much) * thin);
      this.arrows(links, colours[step], thin * (1 + 0.5 * much));
    });
    this.paths(toCome);
    pen.stroke(palette.accent, 1.5, [5, 4]);
    this.paths(passed);
    pen.stroke(palette.accent, 1.5 + 2 * thin);
    this.arrows([...passed, ...toCome], palette.accent, thin);
    pen.begin();
    const small = Math.max(1.5, Math.min(4, this.spacing / 8));
    for (const link of crossed) this.cross(...pointOn(this.shape, link, 0.5), small);
    pen.stroke(palette.dead, 1.6);
  }

  transfers() {
    const { pen, scene } = this;
    const { loaded, palette, selection } = scene;
    const hops = loaded.hops;
    if (hops === null) return;
    const { linkAt } = scene.drawn;
    const count = hops.flights.at(scene.moment);
    if (count > MOST_MOVING) {
      this.counts();
      return;
    }
    const radius = Math.max(1.6, Math.min(4.5, 0.3 * this.radius));
    const kinds: number[][] = [[], [], [], []];
    for (let i = 0; i < count; i++) {
      const hop: number = hops.flights.found[i];
      const link = linkAt[hops.link[hop]];
      if (link < 0 || this.visible[link] === 0) continue;
      const followed = selection?.kind === "chunk" && hops.chunk[hop] === selection.id;
      const faded = !followed && (selection?.kind === "chunk" || this.light[link] === 0);
      kinds[followed ? 3 : faded ? 0 : hops.reduces[hop] === 1 ? 2 : 1].push(hop);
    }
    const colours = [palette.soft, palette.transfer, palette.reduce, palette.critical];
    kinds.forEach((those, kind) => {
      if (those.length === 0) return;
      pen.opacity(kind === 0 ? 0.3 : 1);
      pen.begin();
      for (const hop of those) {
        const s = (scene.moment - hops.start[hop]) / (hops.end[hop] - hops.start[hop]);
        const link = linkAt[hops.link[hop]];
        const [x, y] = pointOn(this.shape, link, this.outside(link, s));
        pen.circle(x, y, kind === 3 ? radius + 2 : radius);
      }
      pen.fill(colours[kind]);
      if (radius > 2.4) pen.stroke(palette.back, 1);
    });
    pen.opacity(1);
  }

  nodes() {
    const { pen, scene, radius } = this;
    const { loaded, palette, drawn } = scene;
    const { nodeAt, members, groups } = drawn;
    const all = [...this.x.keys()].filter((node) => this.isSeen(node));
    const isSwitch = this.x.map((_, node) => Number(groups[node] < 0
      && loaded.run.network.nodes.is_switch[group(members, node)[0]] === 1));
    const outline = (nodes: number[], grow: number) => {
      pen.begin();
      for (const node of nodes) {
        const r = this.reach(node) + grow;
        if (isSwitch[node] === 1) pen.circle(this.x[node], this.y[node], r);
        else pen.box(this.x[node] - r, this.y[node] - r, 2 * r, 2 * r, r > 5 ? r / 3 : 0);
      }
    };
    if (scene.cut) {
      const inCut = sums(nodeAt, loaded.inCut, this.x.length);
      outline(all.filter((node) => inCut[node] > 0), this.rim);
      pen.stroke(palette.cut, radius > 5 ? 2 : 1);
    }
    const dot = (node: number) => groups[node] < 0 && radius <= SMALL;
    outline(all.filter((node) => isSwitch[node] === 0 && dot(node)), 0);
    pen.fill(palette.nodeLine);
    outline(all.filter((node) => isSwitch[node] === 0 && !dot(node)), 0);
    pen.fill(palette.node);
    pen.stroke(palette.nodeLine, 1.2);
    outline(all.filter((node) => isSwitch[node] === 1), 0);
    pen.fill(palette.panel);
    pen.stroke(palette.nodeLine, radius > SMALL ? 1.6 : 0.8);
    const dead = sums(nodeAt, this.dead.node, this.x.length);
    pen.begin();
    for (const node of all.filter((node) => dead[node] > 0)) {
      const r = this.reach(node);
      // Of a group of which some live, the corner.
      if (dead[node] === group(members, node).length) this.cross(this.x[node], this.y[node], r + 2);
      else this.cross(this.x[node] + r, this.y[node] - r, 4);
    }
    pen.stroke(palette.dead, 2);
    for (const focus of [scene.selection, scene.hovered]) {
      const node = this.nodeOf(focus);
      if (node < 0) continue;
      outline([node], 3);
      pen.stroke(palette.accent, 2.4);
    }
    this.labels();
  }

  legend(width: number, height: number, beside: boolean) {
    const { pen, scene } = this;
    const { palette, measure } = scene;
    const colours = measure.signed ? diverging(palette.dark) : ramp(palette.dark);
    const [x, y] = [12, height - 20];
    const cell = (beside ? BESIDE - 25 : Math.min(200, width - 180)) / STEPS;
    const ends = [measure.signed ? -measure.largest : 0, measure.largest].map(measure.words);
    const middle = measure.words(measure.signed ? 0 : measure.largest / 2);
    const lettering = { size: 11, colour: palette.soft };
    const keys = this.keys();
    if (beside) {
      const top = y - 34 - 17 * keys.length;
      pen.begin();
      pen.box(0, top, BESIDE, height - top);
      pen.opacity(0.85);
      pen.fill(palette.back);
      pen.opacity(1);
    }
    pen.words(measure.title, x, y - 15, { ...lettering, colour: palette.text });
    colours.forEach((colour, step) => {
      const much = measure.signed ? Math.abs(2 * step - STEPS + 1) / (STEPS - 1) : step / STEPS;
      pen.begin();
      pen.box(x + step * cell, y - 5 - 3 * much, cell + 0.5, 4 + 6 * much);
      pen.fill(colour);
    });
    pen.words(ends[0], x, y + 14, lettering);
    if (!ends.includes(middle)) {
      pen.words(middle, x + 8 * cell, y + 14, { ...lettering, align: "center" });
    }
    pen.words(ends[1], x + 16 * cell, y + 14, { ...lettering, align: "end" });
    let [left, top] = [x + 16 * cell + 24, y + 4];
    if (beside) [left, top] = [x + 4, y - 17 - 17 * keys.length];
    else if (left + 105 * keys.length > width) {
      [left, top] = [x + widthOf(measure.title, 11) + 18, y - 15];
    }
    for (const [colour, words] of keys) {
      pen.begin();
      pen.circle(left, top - 4, 4);
      pen.fill(colour);
      pen.words(words, left + 8, top, lettering);
      if (beside) top += 17;
      else left += 26 + widthOf(words, 11);
    }
  }

  /** What the colours of marks mean. */
  private keys(): [string, string][] {
    const { loaded, palette, cut, critical } = this.scene;
    const keys: [string, string][] = [];
    const some = (marks: Uint8Array) => marks.includes(1);
    if (loaded.hops !== null) keys.push([palette.transfer, "transfer"]);
    if (loaded.hops !== null && some(loaded.hops.reduces)) keys.push([palette.reduce, "reduction"]);
    if (cut && some(loaded.inCut)) keys.push([palette.cut, "bound's cut"]);
    if (critical) keys.push([palette.critical, "critical path"]);
    if (some(this.dead.link) || some(this.dead.node)) keys.push([palette.dead, "dead"]);
    return keys;
  }

  /** Marks that lie beneath the links: the cut, the critical path, what is selected. */
  private under() {
    const { pen, scene } = this;
    const { loaded, palette, selection, hovered } = scene;
    if (scene.cut) {
      const { inCut, run: { network: { links } } } = loaded;
      const across = links.from.map((a, link) => Number(inCut[a] !== inCut[links.to[link]]));
      const crossing = sums(scene.drawn.linkAt, across, this.from.length);
      this.paths(this.all((link) => crossing[link] > 0));
      pen.opacity(selection === null ? 0.35 : 0.15);
      pen.stroke(palette.cut, 8 * this.thin);
      pen.opacity(1);
    }
    if (scene.critical) {
      const { linkAt } = scene.drawn;
      this.paths([...new Set([...loaded.criticalLinks].map((link) => linkAt[link]))]
        .filter((link) => link >= 0));
      pen.opacity(0.55);
      pen.stroke(palette.critical, 10 * this.thin);
      pen.opacity(1);
    }
    for (const focus of [selection, hovered]) {
      const link = this.linkOf(focus);
      if (link < 0) continue;
      this.paths([link]);
      pen.opacity(0.5);
      pen.stroke(palette.accent, 9);
      pen.opacity(1);
    }
  }

  /** The drawn link that a thing is; -1 for none. */
  private linkOf(thing: Thing): number {
    return thing?.kind === "link" || thing?.kind === "bundle"
      ? this.scene.drawn.linkAt[thing.id] ?? -1 : -1;
  }

  /** The drawn node that a thing is, or is inside of; -1 for none. */
  private nodeOf(thing: Thing): number {
    const { nodeAt, linkAt } = this.scene.drawn;
    if (thing?.kind === "node" || thing?.kind === "group") return nodeAt[thing.id] ?? -1;
    if (thing?.kind !== "link" || linkAt[thing.id] !== -1) return -1;
    return nodeAt[this.scene.loaded.run.network.links.from[thing.id]];
  }

  /** The radius of a node, half the side of a folded group. */
  private reach(node: number): number {
    return this.scene.drawn.half[node] * this.scale || this.radius;
  }

  private isSeen(node: number): boolean {
    const r = this.reach(node) + 30;
    const [x, y] = [this.x[node], this.y[node]];
    return x > -r && x < this.width + r && y > -r && y < this.height + r;
  }

  /** How each drawn link is lit: as the most telling one of those it stands for. */
  private lights(): Uint8Array {
    const light = new Uint8Array(this.from.length);
    const own = this.ownLights();
    const telling = [0, 1, 3, 2];
    this.scene.drawn.linkAt.forEach((at, link) => {
      if (at >= 0 && telling[own[link]] > telling[light[at]]) light[at] = own[link];
    });
    return light;
  }

  private ownLights(): Uint8Array {
    const { loaded, selection, moment } = this.scene;
    const light = new Uint8Array(loaded.links).fill(1);
    if (selection?.kind === "node" && selection.id < loaded.nodes) {
      light.fill(0);
      for (const link of group(loaded.outgoing, selection.id)) light[link] = 1;
      for (const link of group(loaded.incoming, selection.id)) light[link] = 1;
    }
    const hops = loaded.hops;
    if (selection?.kind === "chunk" && hops !== null && selection.id < loaded.run.chunks.count) {
      light.fill(0);
      for (const hop of group(hops.byChunk, selection.id)) {
        if (hops.start[hop] <= moment) light[hops.link[hop]] = 2;
        else if (light[hops.link[hop]] === 0) light[hops.link[hop]] = 3;
      }
    }
    return light;
  }

  /** The share of a link's whole way at share `s` of its way outside the nodes. */
  private outside(link: number, s: number): number {
    const { x, y } = this;
    const [a, b] = [this.from[link], this.to[link]];
    if (this.shape.stub[link] === 1) {
      const { controlX, controlY } = this.shape;
      const length = Math.hypot(controlX[link] - x[a], controlY[link] - y[a]);
      const inside = this.reach(s <= 0.5 ? a : b) / length;
      return s <= 0.5 ? inside / 2 + (1 - inside) * s : 0.5 + (1 - inside) * (s - 0.5);
    }
    const length = Math.hypot(x[b] - x[a], y[b] - y[a]) || 1;
    const [left, right] = [a, b].map((node) => Math.min(0.4, this.reach(node) / length));
    return left + (1 - left - right) * s;
  }

  private all(is: (link: number) => boolean): number[] {
    const result: number[] = [];
    for (let link = 0; link < this.visible.length; link++) {
      if (this.visible[link] === 1 && is(link)) result.push(link);
    }
    return result;
  }

  private paths(links: number[]) {
    const { pen, x, y } = this;
    const { stub, controlX, controlY } = this.shape;
    const dense = links.length > MANY;
    pen.begin();
    for (const link of links) {
      const [a, b] = [this.from[link], this.to[link]];
      if (stub[link] === 0) {
        const [cx, cy] = [controlX[link], controlY[link]];
        if (dense && Math.abs(x[b] - x[a]) + Math.abs(y[b] - y[a]) < STRAIGHT) {
          const [dx, dy] = [(cx - (x[a] + x[b]) / 2) / 2, (cy - (y[a] + y[b]) / 2) / 2];
          pen.move(x[a] + dx, y[a] + dy);
          pen.line(x[b] + dx, y[b] + dy);
          continue;
        }
        pen.move(x[a], y[a]);
        pen.curve(cx, cy, x[b], y[b]);
        continue;
      }
      for (const [px, py, qx, qy] of piecesOf(this.shape, link)) {
        pen.move(px, py);
        pen.line(qx, qy);
      }
    }
  }

  /** Small heads that tell a link's direction, where there is room. */
  private arrows(links: number[], colour: string, grow: number) {
    if (this.spacing < 36) return;
    const size = 3.6 * Math.max(0.8, grow);
    this.pen.begin();
    for (const link of links) {
      const [a, b] = [this.from[link], this.to[link]];
      const length = Math.hypot(this.x[b] - this.x[a], this.y[b] - this.y[a]);
      const r = this.reach(b);
      if (length < 3 * r) continue;
      const ahead = this.shape.stub[link] === 1 ? 0.62
        : Math.max(0.5, 1 - (1.5 * r + 9) / length);
      const [x, y] = pointOn(this.shape, link, ahead);
      const [endX, endY] = pointOn(this.shape, link, 1);
      const ux = (endX - x) / Math.hypot(endX - x, endY - y);
      const uy = (endY - y) / Math.hypot(endX - x, endY - y);
      this.pen.move(x + 1.5 * size * ux, y + 1.5 * size * uy);
      this.pen.line(x - size * uy, y + size * ux);
      this.pen.line(x + size * uy, y - size * ux);
    }
    this.pen.fill(colour);
  }

  /** The counts above one, the largest first, as far as there is room for them. */
  private counts() {
    const { pen, scene, radius } = this;
    const { palette, loaded } = scene;
    const counts = sums(scene.drawn.linkAt, inFlight(loaded, scene.moment), this.from.length);
    const room = new Room();
    const tall = 2 * (radius + (this.named ? 14 : 0));
    this.x.forEach((x, node) => room.keep(x, this.y[node], 2 * radius, tall));
    const many = this.all((link) => counts[link] > 1).sort((a, b) => counts[b] - counts[a]);
    for (const link of many) {
      const [x, y] = pointOn(this.shape, link, 0.5);
      const words = whole(counts[link]);
      if (!room.take(x, y, widthOf(words, 10) + 4, 12)) continue;
      const lettering = { size: 10, colour: palette.text, halo: palette.back } as const;
      pen.words(words, x, y + 3, { ...lettering, align: "center" });
    }
  }

  private labels() {
    const { pen, scene, spacing } = this;
    const { loaded, palette, drawn: { groups, members } } = scene;
    const { network } = loaded.run;
    const focus = new Set([scene.selection, scene.hovered].map((thing) => this.nodeOf(thing)));
    const inCut = sums(scene.drawn.nodeAt, loaded.inCut, this.x.length);
    const { radius } = this;
    const size = radius > 12 ? 11 : 10;
    const letters = (room: number) => Math.min(24, Math.floor((0.82 * room) / (0.58 * size)));
    // Without stubs, links of the highest nodes go down: names stand above where there is room.
    const down = !this.shape.stub.includes(1);
    const highest = this.y.reduce((least, y) => Math.min(least, y), Infinity);
    const row = this.x.filter((_, node) => this.y[node] < highest + 1).sort();
    const gap = row.reduce((least, x, i) => (i > 0 ? Math.min(least, x - row[i - 1]) : least), 200);
    this.x.forEach((x, node) => {
      const focused = focus.has(node);
      const folded = groups[node];
      const r = this.reach(node);
      if (!focused && !this.named && folded < 0 || !this.isSeen(node)) return;
      const y = this.y[node];
      const reach = r + (scene.cut && inCut[node] > 0 ? this.rim : 0);
      const above = down && y < highest + 1 && y - reach > size + 4;
      const own = folded < 0 ? 0 : Math.max(2.4 * r, 1.35 * spacing);
      const room = letters(own || (above ? gap : spacing));
      const those = group(members, node);
      const full = shown(folded < 0 ? network.nodes.name[those[0]] : network.groups[folded], 60);
      const name = ending(full, focused ? 24 : room);
      const inside = widthOf(name, size) <= 2 * r - 2;
      const lettering = { size, colour: palette.text, align: "center" } as const;
      const two = folded >= 0 && inside && r > size;
      if (folded >= 0 && (two || !inside) && widthOf(whole(those.length), size) < 2 * r) {
        const colour = palette.soft;
        pen.words(whole(those.length), x, y + (two ? 1.1 : 0.36) * size, { ...lettering, colour });
      }
      if (inside) pen.words(name, x, y + (two ? -0.2 : 0.36) * size, lettering);
      else if (folded >= 0 && !focused && !this.named) return;
      else {
        const base = above ? y - reach - 4 : y + reach + size + 2;
        pen.words(name, x, base, { ...lettering, halo: palette.back });
      }
    });
  }

  private cross(x: number, y: number, r: number) {
    this.pen.move(x - r, y - r);
    this.pen.line(x + r, y + r);
    this.pen.move(x + r, y - r);
    this.pen.line(x - r, y + r);
  }
}

/** A name's end, where it is too long: neighbours' names differ there. */
function ending(name: string, most: number): string {
  const letters = Array.from(name);
  const cut = letters.length - most;
  return cut <= 0 ? name : `\u2026${letters.slice(cut + 1).join("")}`;
}
