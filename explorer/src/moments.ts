// What happens on the way of a run: links fail, repairs come into force. What is dead is a matter
// of the moment.

import type { Mark } from "./axis.ts";
import type { Palette } from "./colour.ts";
import { group } from "./groups.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";
import { time } from "./words.ts";

export interface Dead { link: Uint8Array; node: Uint8Array }

const known = new WeakMap<Loaded, { passed: number; dead: Dead }>();

/** What is dead at a moment: reckoned on from the last call's moment, anew only backwards. */
export function deadAt(loaded: Loaded, moment: number): Dead {
  const { moments, network } = loaded.run;
  let state = known.get(loaded);
  if (state === undefined || (state.passed > 0 && moments[state.passed - 1].at_ps > moment)) {
    const dead = { link: new Uint8Array(loaded.links), node: new Uint8Array(loaded.nodes) };
    for (const link of network.links.dead) dead.link[link] = 1;
    for (const node of network.nodes.dead) dead.node[node] = 1;
    state = { passed: 0, dead };
    known.set(loaded, state);
  }
  const { dead } = state;
  for (; state.passed < moments.length && moments[state.passed].at_ps <= moment; state.passed++) {
    const { links_down: down, links_up: up, nodes_down: nodes } = moments[state.passed];
    for (const link of down) dead.link[link] = 1;
    for (const link of up) dead.link[link] = 0;
    for (const node of nodes) {
      if (node >= loaded.nodes) continue;
      dead.node[node] = 1;
      for (const link of group(loaded.outgoing, node)) dead.link[link] = 1;
      for (const link of group(loaded.incoming, node)) dead.link[link] = 1;
    }
  }
  return dead;
}

/** The next (1) or last (-1) of the moments from here, or null. */
export function momentFrom(loaded: Loaded, here: number, direction: 1 | -1): number | null {
  const beyond = loaded.run.moments.map(({ at_ps: at }) => at)
    .filter((at) => direction * (at - here) > 0);
  return beyond.length === 0 ? null : direction * Math.min(...beyond.map((at) => direction * at));
}

/** The words of what happens within a part of time; "" where nothing does. */
export const happening = (loaded: Loaded, from: number, to: number): string =>
  loaded.run.moments.filter(({ at_ps: at }) => at >= from && at <= to).slice(0, 3)
    .map(({ at_ps: at, words }) => `${time(at)}: ${words.slice(0, 200)}`).join("; ");

/** When something happens, as marks. */
export const happened = ({ dead }: Palette, { run }: Loaded) =>
  run.moments.map(({ at_ps: at }): Mark => [at, "", dead, [3, 2]]);

/** The moments of a run that drawings mark: what it ends with, what is marked, and the present. */
export function marksOf({ palette, store }: Pick<Page, "palette" | "store">, { run }: Loaded): Mark[] {
  const { mark, moment } = store.view;
  const marks: [number | null, string, string, number[]][] = [
    [run.bound_ps, "bound", palette.cut, [4, 3]],
    [run.completion_ps, "completion", palette.soft, [1, 2]],
    [mark, "mark", palette.critical, [2, 2]],
    [moment, "", palette.accent, []],
  ];
  return marks.filter((mark): mark is Mark => mark[0] !== null);
}
