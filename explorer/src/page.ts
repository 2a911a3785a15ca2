// The page's heart: the data, the runs unpacked so far, the clock, and the view.

import type { Range } from "./axis.ts";
import { Clock } from "./clock.ts";
import { readPalette } from "./colour.ts";
import { type Drawn, Folding } from "./fold.ts";
import type { Data } from "./format.ts";
import { place } from "./geometry.ts";
import { momentFrom, timed } from "./measure.ts";
import type { Pen } from "./pen.ts";
import { type Choices, readChoices } from "./results/choices.ts";
import { type Findings, readResults } from "./results/read.ts";
import type { Strip } from "./results/training.tsx";
import { type Loaded, loadRun } from "./run.ts";
import { fromFragment, Store, toFragment, type View } from "./state.ts";

export interface Picture {
  title: string; width: number; height: number;
  draw: (pen: Pen, width: number, height: number) => void;
}

const SHORTEST = 10;

export class Page {
  readonly clock = new Clock(1, () => performance.now());
  palette = readPalette(document.documentElement);
  /** Why a run that was asked for can't be shown. */
  problem = "";
  /** What of the results can be saved as a picture now. */
  picture: (() => Picture) | null = null;
  readonly store: Store;
  private readonly runs: (Loaded | undefined)[] = [];
  private readonly foldings = new Map<Loaded, Folding>();
  private writing = 0;

  /** `findings`: the results, if the page has any. */
  private constructor(readonly data: Data, readonly findings: Findings | null) {
    this.store = new Store(this.read());
  }

  static async open(data: Data): Promise<Page> {
    const { results, runs } = data;
    const findings = results === null ? null : await readResults(results, runs.length);
    const page = new Page(data, findings);
    const { run, other, moment } = page.store.view;
    await page.load(run, other);
    page.fitClock();
    page.seek(moment);
    page.applyTheme();
    page.store.listen(() => page.write());
    addEventListener("hashchange", () => page.show(page.read()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.applyTheme());
    return page;
  }

  get current(): Loaded {
    return this.runs[this.store.view.run] as Loaded;
  }

  get other(): Loaded | null {
    return this.runs[this.store.view.other] ?? null;
  }

  get seesResults(): boolean {
    const { data, findings, store } = this;
    return findings !== null && (data.runs.length === 0 || store.view.view === "results");
  }

  /** Whether there is a course of time to be shown. */
  get timed(): boolean {
    return timed(this.current) || (this.other !== null && timed(this.other));
  }

  /** The timelines that are seen. */
  get strips(): Strip[] {
    const { table, strip, beside } = this.store.view.choices;
    const strips = this.findings?.strips ?? [];
    return !this.seesResults || table >= 0 ? []
      : [strips[strip], strips[beside]].filter((it) => it !== undefined);
  }

  /** How long what is seen takes. */
  get length(): number {
    const { strips } = this;
    return strips.length > 0 ? Math.max(...strips.map(({ length }) => length)) : this.clock.length;
  }

  /** The part of time that the Gantt or the timelines show. */
  get range(): Range {
    const { range, choices } = this.store.view;
    const part = this.seesResults ? choices.span : range;
    return part !== null && part[0] < this.length ? part : [0, this.length];
  }

  folding(loaded: Loaded): Folding {
    const folding = this.foldings.get(loaded) ?? new Folding(loaded.run.network);
    this.foldings.set(loaded, folding);
    return folding;
  }

  /** What is drawn of a run's network on a drawing of this size. */
  drawn(loaded: Loaded, width: number, height: number): Drawn {
    const folding = this.folding(loaded);
    const { zoom, fold } = this.store.view;
    return folding.at(place(folding.whole.shape, zoom, width, height).scale, fold);
  }

  /** Changes what of the results is seen. */
  choose(part: Partial<Choices>) {
    this.store.change({ choices: { ...this.store.view.choices, ...part } });
  }

  /** Changes the view, unpacking the runs it needs first. */
  async show(part: Partial<View>) {
    const { run, other } = { ...this.store.view, ...part };
    this.problem = "";
    try {
      await this.load(run, other);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : "This run can't be shown.";
      this.store.change({});
      return;
    }
    this.store.change(part);
    this.keepSelection();
    if (this.seesResults) this.clock.play(false);
    this.fitClock();
    this.seek(part.moment ?? this.clock.moment);
    this.applyTheme();
  }

  seek(moment: number) {
    this.clock.seek(moment);
    this.store.change({ moment: this.clock.moment });
  }

  /** To the next (1) or previous (-1) start or end of a hop, or what happened. */
  step(direction: 1 | -1) {
    this.clock.play(false);
    if (!this.timed) return;
    const { hops, run } = this.current;
    const { moment } = this.clock;
    const event = hops === null ? moment + direction * run.bins.width_ps
      : direction === 1 ? hops.flights.next(moment) : hops.flights.previous(moment);
    const ends = [event, momentFrom(this.current, moment, direction)].filter((to) => to !== null);
    this.seek(ends.length === 0 ? (direction === 1 ? this.clock.length : 0)
      : direction * Math.min(...ends.map((to) => direction * to)));
  }

  toggle() {
    if (!this.timed) return;
    this.clock.play(!this.clock.playing);
    if (this.clock.playing) requestAnimationFrame(this.frame);
    this.store.change({ moment: this.clock.moment });
  }

  /** Makes the part of time `factor` times as long, around the present where it's seen. */
  scaleRange(factor: number, around = this.seesResults ? NaN : this.clock.moment) {
    const [from, to] = this.range;
    const centre = around >= from && around <= to ? around : (from + to) / 2;
    const length = Math.max(SHORTEST, Math.min(this.length, (to - from) * factor));
    this.setRange(centre - ((centre - from) / (to - from)) * length, length);
  }

  /** Moves the part of time by a share of its length. */
  panRange(share: number) {
    const [from, to] = this.range;
    this.setRange(from + share * (to - from), to - from);
  }

  setRange(start: number, length: number) {
    const from = Math.max(0, Math.min(this.length - length, start));
    const range: Range | null = length >= this.length ? null : [from, from + length];
    if (this.seesResults) this.choose({ span: range });
    else this.store.change({ range });
  }

  setTheme(theme: View["theme"]) {
    this.store.change({ theme });
    this.applyTheme();
  }

  /** The view that the address tells. */
  private read(): View {
    const view = fromFragment(location.hash, this.data.runs.length);
    if (this.findings !== null) view.choices = readChoices(location.hash, this.findings);
    return view;
  }

  private readonly frame = () => {
    const { playing, moment, length } = this.clock;
    if (!playing) return;
    if (moment >= length) this.clock.play(false);
    const [from, to] = this.range;
    if (moment > to || moment < from) this.setRange(moment - 0.05 * (to - from), to - from);
    this.store.change({ moment });
    requestAnimationFrame(this.frame);
  };

  private async load(...runs: number[]) {
    for (const run of runs) {
      if (run in this.data.runs) this.runs[run] ??= await loadRun(this.data.runs[run]);
    }
    this.keepSelection();
  }

  /** Lets go of a selection that the run doesn't have. */
  private keepSelection() {
    const { selection } = this.store.view;
    if (selection === null) return;
    const { nodes = 0, links = 0, run } = this.current ?? {};
    const counts = { node: nodes, link: links, chunk: run?.chunks.count ?? 0 };
    if (selection.id >= counts[selection.kind]) this.store.change({ selection: null });
  }

  private fitClock() {
    if (this.current === undefined) return;
    this.clock.fit(Math.max(this.current.length, this.other?.length ?? 0));
    const { range } = this.store.view;
    if (range !== null && range[1] > this.clock.length) this.store.change({ range: null });
  }

  private applyTheme() {
    const root = document.documentElement;
    const { theme } = this.store.view;
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    this.palette = readPalette(root);
    this.store.change({});
  }

  /** Writes the view into the address, at most once a second. */
  private write() {
    this.writing ||= window.setTimeout(() => {
      this.writing = 0;
      history.replaceState(null, "", `#${toFragment(this.store.view)}`);
    }, 1000);
  }
}
