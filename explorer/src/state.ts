// What is seen: the run, the moment, what is selected, how links are coloured, and so on.
//
// All of it is one value that can be written into the address's fragment and read back, so a link
// to the page is a link to the view. Drawings hear of every change, panels a few times a second.

import { useEffect, useState } from "preact/hooks";
import { fieldsOf, Fragment } from "./codec.ts";
import { WHOLE, type Zoom } from "./geometry.ts";
import { AS_IS, choiceFields, type Choices } from "./results/choices.ts";

const LAZY_MS = 150;
const LAZY = new Set<keyof View>(["moment", "zoom", "range"]);

export function useView(store: Store): View {
  const [view, setView] = useState(store.view);
  useEffect(() => {
    let timer = 0;
    let last = store.view;
    const show = () => {
      clearTimeout(timer);
      timer = 0;
      last = store.view;
      setView(last);
    };
    const stop = store.listen(() => {
      const keys = Object.keys(last) as (keyof View)[];
      const changed = keys.filter((key) => last[key] !== store.view[key]);
      if (changed.some((key) => !LAZY.has(key))) show();
      else if (timer === 0) timer = window.setTimeout(show, LAZY_MS);
    });
    show();
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store]);
  return view;
}

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const listener = () => setMatches(list.matches);
    list.addEventListener("change", listener);
    return () => list.removeEventListener("change", listener);
  }, [query]);
  return matches;
}

export const keysOf = <T extends object>(things: T) => Object.keys(things) as (keyof T)[];

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
  moment: number; mark: number | null; selection: Selection; colouring: Colouring; zoom: Zoom;
  /** The Gantt's part of time; null is all of it. */
  range: [number, number] | null;
  gantt: Gantt;
  /** Whether groups of a large network are drawn as one thing each. */
  fold: boolean;
  cut: boolean; critical: boolean; tab: string; theme: "auto" | "light" | "dark";
  /** Counts only where there are both runs and results. */
  view: "network" | "results";
  choices: Choices;
}

export const START: View = {
  view: "results", choices: AS_IS,
  run: 0, other: -1, moment: 0, mark: null, selection: null, colouring: "all", zoom: WHOLE,
  range: null, gantt: "link", fold: true, cut: true, critical: false, tab: "facts", theme: "auto",
};

const whole = (x: number) => String(Math.round(x));
const flag = (on: boolean) => String(Number(on));

export const toFragment = (view: View): string =>
  new URLSearchParams([
    ...fieldsOf(view, START, {
      run: String, other: String, moment: whole, mark: whole,
      selection: ({ kind, id }) => `${kind}.${id}`, colouring: String,
      zoom: ({ k, x, y }) => [k, x, y].map((value) => Number(value.toPrecision(6))).join("_"),
      range: (range) => range.map(whole).join("_"), gantt: String, fold: flag, cut: flag,
      critical: flag, tab: String, theme: String, view: String,
    }),
    ...choiceFields(view.choices),
  ]).toString();

/** Reads a fragment; what is missing or makes no sense is as at the start. */
export function fromFragment(text: string, runs: number): View {
  const fragment = new Fragment(text);
  const [, kind, id] = /^(node|link|chunk)\.(\d+)$/.exec(fragment.text("selection")) ?? [];
  const [k, x, y] = fragment.parts("zoom").map(Number);
  const zooms = k > 0 && k < 1000 && Number.isFinite(x) && Number.isFinite(y);
  return {
    choices: AS_IS, run: fragment.index("run", runs, START.run),
    other: fragment.index("other", runs, START.other),
    moment: fragment.index("moment", Infinity, START.moment),
    mark: fragment.index("mark", Infinity, null),
    selection: kind === undefined ? null : { kind: kind as "node", id: Number(id) },
    colouring: fragment.word("colouring", keysOf(COLOURINGS), START.colouring),
    zoom: zooms ? { k, x, y } : WHOLE, range: fragment.range("range"),
    gantt: fragment.word("gantt", keysOf(GANTTS), START.gantt), fold: fragment.on("fold", true),
    cut: fragment.on("cut", true), critical: fragment.on("critical", false),
    tab: fragment.text("tab") || START.tab,
    theme: fragment.word("theme", ["auto", "light", "dark"], "auto"),
    view: fragment.word("view", ["results", "network"], "results"),
  };
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
