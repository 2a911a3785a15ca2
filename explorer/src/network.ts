// Draws the network at a moment: links, what moves along them, nodes, and a legend.
//
// Links are sorted into the ramp's steps and each step is one path, so thousands of links are a
// few strokes. Where very many hops are in flight, links show their number instead.

import { diverging, type Palette, ramp, STEPS } from "./colour.ts";
import { BESIDE, foot, laid, piecesOf, place, pointOn, type Shape, type Zoom } from "./geometry.ts";
import { group } from "./groups.ts";
import { inFlight, type Measure } from "./measure.ts";
import { type Pen, widthOf } from "./pen.ts";
import { Room } from "./room.ts";
import type { Loaded } from "./run.ts";
import type { Selection } from "./state.ts";
import { shown, whole } from "./words.ts";

/** More hops than this in flight are counted, not moved. */
export const MOST_MOVING = 6000;

export interface Scene {
  loaded: Loaded;
  shape: Shape;
  measure: Measure;
  moment: number;
  zoom: Zoom;
  selection: Selection;
  hovered: Selection;
  cut: boolean;
  critical: boolean;
  palette: Palette;
}

/** Nodes no larger than this are dots. */
const SMALL = 3;

/** The radius of a node on a drawing, from the distance between nodes on it. */
export const radiusOf = (spacing: number) => Math.max(1.6, Math.min(26, 0.26 * spacing));

export function drawNetwork(pen: Pen, scene: Scene, width: number, height: number) {
  const view = new Drawing(pen, scene, width, height);
  const below = foot(scene.shape, width, height);
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

  constructor(
    private readonly pen: Pen, private readonly scene: Scene, width: number, height: number,
  ) {
    const { loaded } = scene;
    this.shape = laid(scene.shape, place(scene.shape, scene.zoom, width, height));
    const { stub, controlX, controlY, returnX, returnY } = this.shape;
    this.x = this.shape.x;
    this.y = this.shape.y;
    this.spacing = this.shape.spacing;
    this.radius = radiusOf(this.spacing);
    this.named = this.spacing >= 38 && this.radius >= 6;
    this.rim = Math.max(1.5, Math.min(5, 0.3 * this.radius));
    this.thin = Math.max(0.25, Math.min(1.3, this.spacing / 60));
    this.from = loaded.run.network.links.from;
    this.to = loaded.run.network.links.to;
    this.visible = new Uint8Array(loaded.links);
    for (let link = 0; link < loaded.links; link++) {
      const [a, b] = [this.from[link], this.to[link]];
      const seen = (x: number[], y: number[]) =>
        Math.max(...x) >= 0 && Math.min(...x) <= width
        && Math.max(...y) >= 0 && Math.min(...y) <= height;
      this.visible[link] = Number(stub[link] === 1
        ? seen([this.x[a], controlX[link]], [this.y[a], controlY[link]])
          || seen([this.x[b], returnX[link]], [this.y[b], returnY[link]])
        : seen([this.x[a], this.x[b], controlX[link]], [this.y[a], this.y[b], controlY[link]]));
    }
    this.light = this.lights();
  }

  links() {
    const { pen, scene } = this;
    const { loaded, palette, measure } = scene;
    const colours = measure.signed ? diverging(palette.dark) : ramp(palette.dark);
    const { thin } = this;
    const steps: number[][] = Array.from({ length: STEPS }, () => []);
    const idle: number[] = [];
    const faded: number[] = [];
    const dead: number[] = [];
    const passed: number[] = [];
    const toCome: number[] = [];
    for (let link = 0; link < loaded.links; link++) {
      if (this.visible[link] === 0) continue;
      const value = measure.values[link] / measure.largest;
      const part = measure.signed ? (value + 1) / 2 : value;
      const step = Math.max(0, Math.min(STEPS - 1, Math.floor(part * STEPS)));
      if (loaded.deadLink[link] === 1) dead.push(link);
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
    pen.begin();
    for (const link of dead) this.cross(...pointOn(this.shape, link, 0.5), 4);
    pen.stroke(palette.dead, 1.6);
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
  }

  transfers() {
    const { pen, scene } = this;
    const { loaded, palette, selection } = scene;
    const hops = loaded.hops;
    if (hops === null) return;
    const count = hops.flights.at(scene.moment);
    if (count > MOST_MOVING) {
      this.counts();
      return;
    }
    const radius = Math.max(1.6, Math.min(4.5, 0.3 * this.radius));
    const kinds: number[][] = [[], [], [], []];
    for (let i = 0; i < count; i++) {
      const hop: number = hops.flights.found[i];
      const link = hops.link[hop];
      if (this.visible[link] === 0) continue;
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
        const [x, y] = pointOn(this.shape, hops.link[hop], this.outside(hops.link[hop], s));
        pen.circle(x, y, kind === 3 ? radius + 2 : radius);
      }
      pen.fill(colours[kind]);
      if (radius > 2.4) pen.stroke(palette.back, 1);
    });
    pen.opacity(1);
  }

  nodes() {
    const { pen, scene, radius } = this;
    const { loaded, palette } = scene;
    const { is_switch: isSwitch } = loaded.run.network.nodes;
    const all = [...this.x.keys()];
    const outline = (nodes: number[], grow: number) => {
      pen.begin();
      for (const node of nodes) {
        const r = radius + grow;
        if (isSwitch[node] === 1) pen.circle(this.x[node], this.y[node], r);
        else pen.box(this.x[node] - r, this.y[node] - r, 2 * r, 2 * r, r / 3);
      }
    };
    if (scene.cut) {
      outline(all.filter((node) => loaded.inCut[node] === 1), this.rim);
      pen.stroke(palette.cut, radius > 5 ? 2 : 1);
    }
    outline(all.filter((node) => isSwitch[node] === 0), 0);
    pen.fill(radius > SMALL ? palette.node : palette.nodeLine);
    if (radius > SMALL) pen.stroke(palette.nodeLine, 1.2);
    outline(all.filter((node) => isSwitch[node] === 1), 0);
    pen.fill(palette.panel);
    pen.stroke(palette.nodeLine, radius > SMALL ? 1.6 : 0.8);
    pen.begin();
    for (const node of all) {
      if (loaded.deadNode[node] === 1) this.cross(this.x[node], this.y[node], radius + 2);
    }
    pen.stroke(palette.dead, 2);
    for (const focus of [scene.selection, scene.hovered]) {
      if (focus?.kind !== "node" || focus.id >= loaded.nodes) continue;
      outline([focus.id], 3);
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
    if (some(loaded.deadLink) || some(loaded.deadNode)) keys.push([palette.dead, "dead"]);
    return keys;
  }

  /** Marks that lie beneath the links: the cut, the critical path, what is selected. */
  private under() {
    const { pen, scene } = this;
    const { loaded, palette, selection, hovered } = scene;
    if (scene.cut) {
      const { inCut } = loaded;
      this.paths(this.all((link) => inCut[this.from[link]] !== inCut[this.to[link]]));
      pen.opacity(selection === null ? 0.35 : 0.15);
      pen.stroke(palette.cut, 8 * this.thin);
      pen.opacity(1);
    }
    if (scene.critical) {
      this.paths([...loaded.criticalLinks]);
      pen.opacity(0.55);
      pen.stroke(palette.critical, 10 * this.thin);
      pen.opacity(1);
    }
    for (const focus of [selection, hovered]) {
      if (focus?.kind !== "link" || focus.id >= loaded.links) continue;
      this.paths([focus.id]);
      pen.opacity(0.5);
      pen.stroke(palette.accent, 9);
      pen.opacity(1);
    }
  }

  private lights(): Uint8Array {
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
    const { x, y, radius } = this;
    const [a, b] = [this.from[link], this.to[link]];
    if (this.shape.stub[link] === 1) {
      const { controlX, controlY } = this.shape;
      const inside = radius / Math.hypot(controlX[link] - x[a], controlY[link] - y[a]);
      return s <= 0.5 ? inside / 2 + (1 - inside) * s : 0.5 + (1 - inside) * (s - 0.5);
    }
    const inside = Math.min(0.4, radius / (Math.hypot(x[b] - x[a], y[b] - y[a]) || 1));
    return inside + (1 - 2 * inside) * s;
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
    pen.begin();
    for (const link of links) {
      const [a, b] = [this.from[link], this.to[link]];
      if (stub[link] === 0) {
        pen.move(x[a], y[a]);
        pen.curve(controlX[link], controlY[link], x[b], y[b]);
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
      if (length < 3 * this.radius) continue;
      const ahead = this.shape.stub[link] === 1 ? 0.62
        : Math.max(0.5, 1 - (1.5 * this.radius + 9) / length);
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
    const counts = inFlight(loaded, scene.moment);
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
    const { pen, scene, radius, spacing } = this;
    const { loaded, palette } = scene;
    const focus = new Set([scene.selection, scene.hovered]
      .filter((f) => f?.kind === "node").map((f) => f?.id));
    const size = radius > 12 ? 11 : 10;
    const letters = (room: number) => Math.min(24, Math.floor((0.9 * room) / (0.58 * size)));
    // Without stubs, links of the highest nodes go down: names stand above where there is room.
    const down = !this.shape.stub.includes(1);
    const highest = this.y.reduce((least, y) => Math.min(least, y), Infinity);
    const row = this.x.filter((_, node) => this.y[node] < highest + 1).sort();
    const gap = row.reduce((least, x, i) => (i > 0 ? Math.min(least, x - row[i - 1]) : least), 200);
    this.x.forEach((x, node) => {
      const focused = focus.has(node);
      if (!focused && !this.named) return;
      const y = this.y[node];
      const reach = radius + (scene.cut && loaded.inCut[node] === 1 ? this.rim : 0);
      const above = down && y < highest + 1 && y - reach > size + 4;
      const most = focused ? 24 : letters(above ? gap : spacing);
      const name = shown(loaded.run.network.nodes.name[node], most);
      const inside = widthOf(name, size) <= 2 * radius - 2;
      const lettering = { size, colour: palette.text, align: "center" } as const;
      if (inside) pen.words(name, x, y + 0.36 * size, lettering);
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
