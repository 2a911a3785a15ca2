// How panels follow the view: at once where something was chosen, a few times a second where only
// time passes or the drawing moves.

import { useEffect, useState } from "preact/hooks";
import type { Store, View } from "./state.ts";

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
