// What is seen: the run, the moment, what is selected, how links are coloured, and so on.
//
// All of it is one value that can be written into the address's fragment and read back, so a link
// to the page is a link to the view. Drawings hear of every change, panels a few times a second.

import { WHOLE, type Zoom } from "./geometry.ts";
import { AS_IS, choiceFields, type Choices } from "./results/choices.ts";

export const COLOURINGS = {
  all: "share busy over all",
  now: "share busy at this moment",
  flight: "in flight now",
  bytes: "bytes",
  bandwidth: "bandwidth",
  difference: "difference of busy shares",
} as const;
export type Colouring = keyof typeof COLOURINGS;

export const GANTTS = { link: "link", npu: "NPU", heat: "busy share" } as const;
export type Gantt = keyof typeof GANTTS;

export type Selection = { kind: "node" | "link" | "chunk"; id: number } | null;

export interface View {
  run: number;
  /** The run beside it, or -1. */
  other: number;
  moment: number;
  mark: number | null;
  selection: Selection;
  colouring: Colouring;
  zoom: Zoom;
  /** The Gantt's part of time; null is all of it. */
  range: [number, number] | null;
  gantt: Gantt;
  /** Whether groups of a large network are drawn as one thing each. */
  fold: boolean;
  cut: boolean;
  critical: boolean;
  tab: string;
  theme: "auto" | "light" | "dark";
  /** Counts only where there are both runs and results. */
  view: "network" | "results";
  choices: Choices;
}

export const START: View = {
  view: "results", choices: AS_IS,
  run: 0, other: -1, moment: 0, mark: null, selection: null, colouring: "all", zoom: WHOLE,
  range: null, gantt: "link", fold: true, cut: true, critical: false, tab: "facts", theme: "auto",
};

const round = (x: number) => Number(x.toPrecision(6));

export function toFragment(view: View): string {
  const fields: [string, string][] = [];
  const put = (key: keyof View, text: string) => {
    if (view[key] !== START[key]) fields.push([key, text]);
  };
  put("run", String(view.run));
  put("other", String(view.other));
  put("moment", String(Math.round(view.moment)));
  put("mark", String(Math.round(view.mark ?? 0)));
  if (view.selection !== null) put("selection", `${view.selection.kind}.${view.selection.id}`);
  put("colouring", view.colouring);
  put("zoom", [view.zoom.k, view.zoom.x, view.zoom.y].map(round).join("_"));
  if (view.range !== null) put("range", view.range.map(Math.round).join("_"));
  put("gantt", view.gantt);
  put("fold", view.fold ? "1" : "0");
  put("cut", view.cut ? "1" : "0");
  put("critical", view.critical ? "1" : "0");
  put("tab", view.tab);
  put("theme", view.theme);
  put("view", view.view);
  fields.push(...choiceFields(view.choices));
  return new URLSearchParams(fields).toString();
}

/** Reads a fragment; what is missing or makes no sense is as at the start. */
export function fromFragment(text: string, runs: number): View {
  const fields = new URLSearchParams(text.replace(/^#/, ""));
  const view: View = { ...START };
  const index = (key: string, limit: number) => {
    const value = fields.get(key);
    return value !== null && /^\d+$/.test(value) && Number(value) < limit ? Number(value) : null;
  };
  view.run = index("run", runs) ?? START.run;
  view.other = index("other", runs) ?? START.other;
  view.moment = index("moment", Infinity) ?? START.moment;
  view.mark = index("mark", Infinity);
  const selection = /^(node|link|chunk)\.(\d+)$/.exec(fields.get("selection") ?? "");
  if (selection !== null) {
    view.selection = { kind: selection[1] as "node", id: Number(selection[2]) };
  }
  const colouring = fields.get("colouring") ?? "";
  if (Object.hasOwn(COLOURINGS, colouring)) view.colouring = colouring as Colouring;
  const [k, x, y] = (fields.get("zoom") ?? "").split("_").map(Number);
  if (k > 0 && k < 1000 && Number.isFinite(x) && Number.isFinite(y)) view.zoom = { k, x, y };
  const [from, to] = (fields.get("range") ?? "").split("_").map(Number);
  if (from >= 0 && to > from && Number.isFinite(to)) view.range = [from, to];
  const gantt = fields.get("gantt") ?? "";
  if (Object.hasOwn(GANTTS, gantt)) view.gantt = gantt as Gantt;
  if (fields.get("fold") === "0") view.fold = false;
  if (fields.get("cut") === "0") view.cut = false;
  if (fields.get("critical") === "1") view.critical = true;
  view.tab = fields.get("tab") ?? START.tab;
  const theme = fields.get("theme");
  if (theme === "light" || theme === "dark") view.theme = theme;
  if (fields.get("view") === "network") view.view = "network";
  return view;
}

export class Store {
  private readonly listeners = new Set<() => void>();

  constructor(public view: View) {}

  change(part: Partial<View>) {
    this.view = { ...this.view, ...part };
    for (const listener of this.listeners) listener();
  }

  /** Selects, or lets go of what is selected already. */
  select(selection: Selection) {
    const now = this.view.selection;
    const same = now?.kind === selection?.kind && now?.id === selection?.id;
    this.change({ selection: same ? null : selection });
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
