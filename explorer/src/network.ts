// Draws the network at a moment: links, what moves along them, nodes, and a legend.
//
// Links are sorted into the ramp's steps and each step is one path, so thousands of links are a
// few strokes. Where very many hops are in flight, links show their number instead.

import { diverging, ramp, STEPS } from "./colour.ts";
import { foldMeasure, sums } from "./fold.ts";
import { BESIDE, foot, laid, piecesOf, place, pointOn } from "./geometry.ts";
import { group } from "./groups.ts";
import { colourings, deadAt, inFlight, linksOf, type Measure, measure } from "./measure.ts";
import type { Page } from "./page.ts";
import { type Pen, widthOf } from "./pen.ts";
import { type Picked, Room } from "./pick.ts";
import type { Loaded } from "./run.ts";
import type { Selection } from "./state.ts";
import { shown, whole } from "./words.ts";

/** The measure that a run's links are coloured by. */
export function measureOf(page: Page, loaded: Loaded): Measure {
  const { moment, colouring } = page.store.view;
  const other = loaded === page.current ? page.other : null;
  const able = colourings(loaded, other);
  return measure(loaded, able.includes(colouring) ? colouring : able[0], moment, other);
}

export type Scene = ReturnType<typeof sceneOf>;

/** `measure` is of drawn links. */
export function sceneOf(
  page: Page, loaded: Loaded, hovered: Thing, width: number, height: number,
) {
  const { moment, zoom, selection, cut, critical } = page.store.view;
  const drawn = page.drawn(loaded, width, height);
  const scale = foldMeasure(measureOf(page, loaded), drawn);
  // Two networks side by side are coloured on one scale.
  const beside = loaded === page.current ? page.other : page.current;
  if (beside !== null && !scale.signed) {
    const own = measureOf(page, beside);
    if (own.title === scale.title) {
      const { largest } = foldMeasure(own, page.drawn(beside, width, height));
      scale.largest = Math.max(scale.largest, largest);
    }
  }
  return {
    loaded, drawn, measure: scale, moment, zoom, selection, hovered, cut, critical,
    palette: page.palette,
  };
}

/** More hops than this in flight are counted, not moved. */
export const MOST_MOVING = 6000;

/** What can be pointed at. */
export type Thing = Selection | Picked;

/** Of so many links, those no longer than this are drawn straight, as that is faster. */
const STRAIGHT = 24;
const MANY = 300;
/** Nodes no larger than this are dots. */
const SMALL = 3;

/** The radius of a node on a drawing, from the distance between nodes on it. */
export const radiusOf = (spacing: number) => Math.max(1.6, Math.min(26, 0.26 * spacing));

export function drawNetwork(pen: Pen, scene: Scene, width: number, height: number) {
  const view = viewOf(pen, scene, width, height);
  const below = foot(scene.drawn.shape, width, height);
  pen.within(0, 0, width, Math.max(0, height - below), () => {
    drawLinks(view);
    drawTransfers(view);
    drawNodes(view);
  });
  drawLegend(view, height, below === 0);
}

type View = ReturnType<typeof viewOf>;

/** The scene as it lies on the drawing. */
function viewOf(pen: Pen, scene: Scene, width: number, height: number) {
  const { loaded, drawn, moment, zoom } = scene;
  const placing = place(drawn.shape, zoom, width, height);
  const shape = laid(drawn.shape, placing);
  const { x, y, from, to, spacing, stub, controlX, controlY, returnX, returnY } = shape;
  const { min, max } = Math;
  const visible = from.map((a, link) => {
    const b = to[link];
    const [cx, cy] = [controlX[link], controlY[link]];
    const seen = (px: number, py: number, qx: number, qy: number) =>
      max(px, qx) >= 0 && min(px, qx) <= width && max(py, qy) >= 0 && min(py, qy) <= height;
    return stub[link] === 1
      ? seen(x[a], y[a], cx, cy) || seen(x[b], y[b], returnX[link], returnY[link])
      : seen(min(x[a], x[b], cx), min(y[a], y[b], cy), max(x[a], x[b], cx), max(y[a], y[b], cy));
  });
  const radius = radiusOf(spacing);
  // The radius of a node, half the side of a folded group.
  const reach = (node: number) => drawn.half[node] * placing.scale || radius;
  const isSeen = (node: number) => {
    const r = reach(node) + 30;
    return x[node] > -r && x[node] < width + r && y[node] > -r && y[node] < height + r;
  };
  const dead = deadAt(loaded, moment);
  return {
    ...scene, pen, width, shape, x, y, from, to, spacing, visible, radius, reach, isSeen, dead,
    /** Whether there is room for the names of nodes. */
    named: spacing >= 38 && radius >= 6,
    /** How far outside a node the cut's mark is. */
    rim: max(1.5, min(5, 0.3 * radius)),
    /** What the widths of lines are multiplied by. */
    thin: max(0.25, min(1.3, spacing / 60)),
    /** Per drawn link: how many of those that it stands for are dead. */
    deadOf: sums(drawn.linkAt, dead.link, from.length),
    light: lightsOf(scene),
  };
}

/** How drawn links are lit: 0 faded, 1 as usual, 2 passed, 3 to come; the most telling counts. */
function lightsOf({ loaded, drawn, selection, moment }: Scene): Uint8Array {
  const { hops } = loaded;
  const own = new Uint8Array(loaded.links).fill(1);
  if (selection?.kind === "node" && selection.id < loaded.nodes) {
    own.fill(0);
    for (const link of linksOf(loaded, selection)) own[link] = 1;
  }
  if (selection?.kind === "chunk" && hops !== null && selection.id < loaded.run.chunks.count) {
    own.fill(0);
    for (const hop of group(hops.byChunk, selection.id)) {
      if (hops.start[hop] <= moment) own[hops.link[hop]] = 2;
      else own[hops.link[hop]] ||= 3;
    }
  }
  const telling = [0, 1, 3, 2];
  const light = new Uint8Array(drawn.shape.from.length);
  drawn.linkAt.forEach((at, link) => {
    if (at >= 0 && telling[own[link]] > telling[light[at]]) light[at] = own[link];
  });
  return light;
}

/** How far a step of the ramp is from none. */
const muchOf = ({ signed }: Measure, step: number) =>
  (signed ? Math.abs(2 * step - STEPS + 1) / (STEPS - 1) : step / STEPS);

function drawLinks(view: View) {
  const { pen, palette, measure, drawn, thin, light, deadOf, shape } = view;
  const colours = measure.signed ? diverging(palette.dark) : ramp(palette.dark);
  const steps = Array.from({ length: STEPS }, (): number[] => []);
  const [idle, faded, dead, passed, toCome, crossed]: number[][] = [[], [], [], [], [], []];
  view.visible.forEach((visible, link) => {
    if (!visible) return;
    const value = measure.values[link] / measure.largest;
    const part = measure.signed ? (value + 1) / 2 : value;
    if (deadOf[link] > 0) crossed.push(link);
    const lit = [faded, null, passed, toCome][light[link]] ?? (value === 0 ? idle
      : steps[Math.max(0, Math.min(STEPS - 1, Math.floor(part * STEPS)))]);
    (deadOf[link] === group(drawn.carries, link).length ? dead : lit).push(link);
  });
  drawUnder(view);
  paths(view, faded);
  pen.glow(palette.idle, 0.8 * thin, 0.35);
  paths(view, idle);
  pen.stroke(palette.idle, 1.1 * thin);
  arrows(view, idle, palette.idle, thin);
  paths(view, dead);
  pen.stroke(palette.dead, 1.1 * thin, [3, 3]);
  steps.forEach((links, step) => {
    if (links.length === 0) return;
    const much = muchOf(measure, step);
    paths(view, links);
    pen.stroke(colours[step], (1.3 + 3 * much) * thin);
    arrows(view, links, colours[step], thin * (1 + 0.5 * much));
  });
  paths(view, toCome);
  pen.stroke(palette.accent, 1.5, [5, 4]);
  paths(view, passed);
  pen.stroke(palette.accent, 1.5 + 2 * thin);
  arrows(view, [...passed, ...toCome], palette.accent, thin);
  pen.begin();
  const small = Math.max(1.5, Math.min(4, view.spacing / 8));
  for (const link of crossed) cross(pen, ...pointOn(shape, link, 0.5), small);
  pen.stroke(palette.dead, 1.6);
}

/** Marks that lie beneath the links: the cut, the critical path, what is selected. */
function drawUnder(view: View) {
  const { pen, loaded, palette, selection, hovered, thin, drawn: { linkAt } } = view;
  if (view.cut) {
    const { inCut, run: { network: { links } } } = loaded;
    const across = links.from.map((a, link) => Number(inCut[a] !== inCut[links.to[link]]));
    const crossing = sums(linkAt, across, view.from.length);
    paths(view, those(view, (link) => crossing[link] > 0));
    pen.glow(palette.cut, 8 * thin, selection === null ? 0.35 : 0.15);
  }
  if (view.critical) {
    const links = new Set([...loaded.criticalLinks].map((link) => linkAt[link]));
    paths(view, [...links].filter((link) => link >= 0));
    pen.glow(palette.critical, 10 * thin, 0.55);
  }
  for (const thing of [selection, hovered]) {
    const link = thing?.kind === "link" || thing?.kind === "bundle" ? linkAt[thing.id] ?? -1 : -1;
    if (link < 0) continue;
    paths(view, [link]);
    pen.glow(palette.accent, 9, 0.5);
  }
}

function drawTransfers(view: View) {
  const { pen, loaded: { hops }, palette, selection, moment, drawn: { linkAt } } = view;
  if (hops === null) return;
  const flying = hops.flights.at(moment);
  if (flying.length > MOST_MOVING) {
    drawCounts(view);
    return;
  }
  const radius = Math.max(1.6, Math.min(4.5, 0.3 * view.radius));
  const kinds: number[][] = [[], [], [], []];
  for (const hop of flying) {
    const link = linkAt[hops.link[hop]];
    if (link < 0 || !view.visible[link]) continue;
    const followed = selection?.kind === "chunk" && hops.chunk[hop] === selection.id;
    const faded = !followed && (selection?.kind === "chunk" || view.light[link] === 0);
    kinds[followed ? 3 : faded ? 0 : hops.reduces[hop] === 1 ? 2 : 1].push(hop);
  }
  const colours = [palette.soft, palette.transfer, palette.reduce, palette.critical];
  kinds.forEach((those, kind) => {
    if (those.length === 0) return;
    pen.opacity(kind === 0 ? 0.3 : 1);
    pen.begin();
    for (const hop of those) {
      const s = (moment - hops.start[hop]) / (hops.end[hop] - hops.start[hop]);
      const link = linkAt[hops.link[hop]];
      const [x, y] = pointOn(view.shape, link, outside(view, link, s));
      pen.circle(x, y, kind === 3 ? radius + 2 : radius);
    }
    pen.fill(colours[kind]);
    if (radius > 2.4) pen.stroke(palette.back, 1);
  });
  pen.opacity(1);
}

/** The counts above one, the largest first, as far as there is room for them. */
function drawCounts(view: View) {
  const { pen, palette, radius, shape, y } = view;
  const counts = sums(view.drawn.linkAt, inFlight(view.loaded, view.moment), view.from.length);
  const room = new Room();
  const tall = 2 * (radius + (view.named ? 14 : 0));
  view.x.forEach((x, node) => room.keep(x, y[node], 2 * radius, tall));
  const many = those(view, (link) => counts[link] > 1).sort((a, b) => counts[b] - counts[a]);
  for (const link of many) {
    const [x, y] = pointOn(shape, link, 0.5);
    const words = whole(counts[link]);
    if (!room.take(x, y, widthOf(words, 10) + 4, 12)) continue;
    const lettering = { size: 10, colour: palette.text, halo: palette.back } as const;
    pen.words(words, x, y + 3, { ...lettering, align: "center" });
  }
}

/** The drawn node that a thing is, or is inside of; -1 for none. */
function nodeOf({ drawn: { nodeAt, linkAt }, loaded }: View, thing: Thing): number {
  if (thing?.kind === "node" || thing?.kind === "group") return nodeAt[thing.id] ?? -1;
  if (thing?.kind !== "link" || linkAt[thing.id] !== -1) return -1;
  return nodeAt[loaded.run.network.links.from[thing.id]];
}

function drawNodes(view: View) {
  const { pen, x, y, radius, reach, loaded, palette, drawn: { nodeAt, members, groups } } = view;
  const all = [...x.keys()].filter(view.isSeen);
  const isSwitch = x.map((_, node) => Number(groups[node] < 0
    && loaded.run.network.nodes.is_switch[group(members, node)[0]] === 1));
  const outline = (nodes: number[], grow: number) => {
    pen.begin();
    for (const node of nodes) {
      const r = reach(node) + grow;
      if (isSwitch[node] === 1) pen.circle(x[node], y[node], r);
      else pen.box(x[node] - r, y[node] - r, 2 * r, 2 * r, r > 5 ? r / 3 : 0);
    }
  };
  if (view.cut) {
    const inCut = sums(nodeAt, loaded.inCut, x.length);
    outline(all.filter((node) => inCut[node] > 0), view.rim);
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
  const dead = sums(nodeAt, view.dead.node, x.length);
  pen.begin();
  for (const node of all.filter((node) => dead[node] > 0)) {
    const r = reach(node);
    // Of a group of which some live, the corner.
    if (dead[node] === group(members, node).length) cross(pen, x[node], y[node], r + 2);
    else cross(pen, x[node] + r, y[node] - r, 4);
  }
  pen.stroke(palette.dead, 2);
  for (const focus of [view.selection, view.hovered]) {
    const node = nodeOf(view, focus);
    if (node < 0) continue;
    outline([node], 3);
    pen.stroke(palette.accent, 2.4);
  }
  drawNames(view);
}

function drawNames(view: View) {
  const { pen, x, y, spacing, radius, loaded, palette, drawn: { groups, members, nodeAt } } = view;
  const { network } = loaded.run;
  const focus = new Set([view.selection, view.hovered].map((thing) => nodeOf(view, thing)));
  const inCut = sums(nodeAt, loaded.inCut, x.length);
  const size = radius > 12 ? 11 : 10;
  const letters = (room: number) => Math.min(24, Math.floor((0.82 * room) / (0.58 * size)));
  // Without stubs, links of the highest nodes go down: names stand above where there is room.
  const down = !view.shape.stub.includes(1);
  const highest = y.reduce((least, y) => Math.min(least, y), Infinity);
  const row = x.filter((_, node) => y[node] < highest + 1).sort();
  const gap = row.reduce((least, x, i) => (i > 0 ? Math.min(least, x - row[i - 1]) : least), 200);
  x.forEach((x, node) => {
    const focused = focus.has(node);
    const folded = groups[node];
    if (!focused && !view.named && folded < 0 || !view.isSeen(node)) return;
    const r = view.reach(node);
    const reach = r + (view.cut && inCut[node] > 0 ? view.rim : 0);
    const above = down && y[node] < highest + 1 && y[node] - reach > size + 4;
    const own = folded < 0 ? 0 : Math.max(2.4 * r, 1.35 * spacing);
    const room = letters(own || (above ? gap : spacing));
    const those = group(members, node);
    const full = shown(folded < 0 ? network.nodes.name[those[0]] : network.groups[folded], 60);
    const name = ending(full, focused ? 24 : room);
    const inside = widthOf(name, size) <= 2 * r - 2;
    const lettering = { size, colour: palette.text, align: "center" } as const;
    const two = folded >= 0 && inside && r > size;
    const write = (words: string, dy: number, colour = palette.text) =>
      pen.words(words, x, y[node] + dy * size, { ...lettering, colour });
    if (folded >= 0 && (two || !inside) && widthOf(whole(those.length), size) < 2 * r) {
      write(whole(those.length), two ? 1.1 : 0.36, palette.soft);
    }
    if (inside) write(name, two ? -0.2 : 0.36);
    else if (folded < 0 || focused || view.named) {
      const base = above ? y[node] - reach - 4 : y[node] + reach + size + 2;
      pen.words(name, x, base, { ...lettering, halo: palette.back });
    }
  });
}

/** A name's end, where it is too long: neighbours' names differ there. */
function ending(name: string, most: number): string {
  const letters = Array.from(name);
  const cut = letters.length - most;
  return cut <= 0 ? name : `\u2026${letters.slice(cut + 1).join("")}`;
}

function drawLegend(view: View, height: number, beside: boolean) {
  const { pen, palette, measure, width, loaded, dead } = view;
  const [x, y] = [12, height - 20];
  const cell = (beside ? BESIDE - 25 : Math.min(200, width - 180)) / STEPS;
  const ends = [measure.signed ? -measure.largest : 0, measure.largest].map(measure.words);
  const middle = measure.words(measure.signed ? 0 : measure.largest / 2);
  const lettering = { size: 11, colour: palette.soft };
  // What the colours of marks mean.
  const some = (marks: Uint8Array | undefined) => marks?.includes(1) ?? false;
  const keys = ([
    [loaded.hops !== null, palette.transfer, "transfer"],
    [some(loaded.hops?.reduces), palette.reduce, "reduction"],
    [view.cut && some(loaded.inCut), palette.cut, "bound's cut"],
    [view.critical, palette.critical, "critical path"],
    [some(dead.link) || some(dead.node), palette.dead, "dead"],
  ] as const).filter(([is]) => is);
  const top = y - 34 - 17 * keys.length;
  if (beside) pen.block(0, top, BESIDE, height - top, palette.back, 0.85);
  pen.words(measure.title, x, y - 15, { ...lettering, colour: palette.text });
  (measure.signed ? diverging(palette.dark) : ramp(palette.dark)).forEach((colour, step) => {
    const much = muchOf(measure, step);
    pen.block(x + step * cell, y - 5 - 3 * much, cell + 0.5, 4 + 6 * much, colour);
  });
  pen.words(ends[0], x, y + 14, lettering);
  if (!ends.includes(middle)) {
    pen.words(middle, x + 8 * cell, y + 14, { ...lettering, align: "center" });
  }
  pen.words(ends[1], x + 16 * cell, y + 14, { ...lettering, align: "end" });
  let [left, base] = beside ? [x + 4, top + 17] : [x + 16 * cell + 24, y + 4];
  if (!beside && left + 105 * keys.length > width) {
    [left, base] = [x + widthOf(measure.title, 11) + 18, y - 15];
  }
  for (const [, colour, words] of keys) {
    pen.begin();
    pen.circle(left, base - 4, 4);
    pen.fill(colour);
    pen.words(words, left + 8, base, lettering);
    if (beside) base += 17;
    else left += 26 + widthOf(words, 11);
  }
}

/** The share of a link's whole way at share `s` of its way outside the nodes. */
function outside({ x, y, from, to, shape, reach }: View, link: number, s: number): number {
  const [a, b] = [from[link], to[link]];
  if (shape.stub[link] === 1) {
    const length = Math.hypot(shape.controlX[link] - x[a], shape.controlY[link] - y[a]);
    const inside = reach(s <= 0.5 ? a : b) / length;
    return s <= 0.5 ? inside / 2 + (1 - inside) * s : 0.5 + (1 - inside) * (s - 0.5);
  }
  const length = Math.hypot(x[b] - x[a], y[b] - y[a]) || 1;
  const [left, right] = [a, b].map((node) => Math.min(0.4, reach(node) / length));
  return left + (1 - left - right) * s;
}

/** The visible links for which it holds. */
const those = ({ visible }: View, is: (link: number) => boolean) =>
  [...visible.keys()].filter((link) => visible[link] && is(link));

function paths({ pen, x, y, from, to, shape }: View, links: number[]) {
  const { stub, controlX, controlY } = shape;
  const dense = links.length > MANY;
  pen.begin();
  for (const link of links) {
    const [a, b] = [from[link], to[link]];
    if (stub[link] === 1) {
      for (const [px, py, qx, qy] of piecesOf(shape, link)) {
        pen.move(px, py);
        pen.line(qx, qy);
      }
      continue;
    }
    if (dense && Math.abs(x[b] - x[a]) + Math.abs(y[b] - y[a]) < STRAIGHT) {
      const [dx, dy] = [(controlX[link] - (x[a] + x[b]) / 2) / 2,
        (controlY[link] - (y[a] + y[b]) / 2) / 2];
      pen.move(x[a] + dx, y[a] + dy);
      pen.line(x[b] + dx, y[b] + dy);
      continue;
    }
    pen.move(x[a], y[a]);
    pen.curve(controlX[link], controlY[link], x[b], y[b]);
  }
}

/** Small heads that tell a link's direction, where there is room. */
function arrows(view: View, links: number[], colour: string, grow: number) {
  const { pen, x, y, from, to, shape } = view;
  if (view.spacing < 36) return;
  const size = 3.6 * Math.max(0.8, grow);
  pen.begin();
  for (const link of links) {
    const [a, b] = [from[link], to[link]];
    const length = Math.hypot(x[b] - x[a], y[b] - y[a]);
    const r = view.reach(b);
    if (length < 3 * r) continue;
    const ahead = shape.stub[link] === 1 ? 0.62 : Math.max(0.5, 1 - (1.5 * r + 9) / length);
    const [px, py] = pointOn(shape, link, ahead);
    const [endX, endY] = pointOn(shape, link, 1);
    const far = Math.hypot(endX - px, endY - py);
    const [ux, uy] = [(size * (endX - px)) / far, (size * (endY - py)) / far];
    pen.move(px + 1.5 * ux, py + 1.5 * uy);
    pen.line(px - uy, py + ux);
    pen.line(px + uy, py - ux);
  }
  pen.fill(colour);
}

function cross(pen: Pen, x: number, y: number, r: number) {
  pen.move(x - r, y - r);
  pen.line(x + r, y + r);
  pen.move(x + r, y - r);
  pen.line(x - r, y + r);
}
