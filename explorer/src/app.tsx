// The whole page: its panes, and the keys that work everywhere.

import { useEffect } from "preact/hooks";
import { GanttPane } from "./ganttpane.tsx";
import { WHOLE } from "./geometry.ts";
import type { Page } from "./page.ts";
import { Panels } from "./panels.tsx";
import { ResultsPage } from "./results/resultspage.tsx";
import { Stage } from "./stage.tsx";
import { useMedia, useView } from "./state.ts";
import { Timeline } from "./timeline.tsx";
import { Toolbar } from "./toolbar.tsx";

const KEYS: Record<string, (page: Page) => void> = {
  " ": (page) => page.toggle(),
  ArrowRight: (page) => page.step(1),
  ArrowLeft: (page) => page.step(-1),
  w: (page) => page.scaleRange(0.5),
  s: (page) => page.scaleRange(2),
  a: (page) => page.panRange(-0.25),
  d: (page) => page.panRange(0.25),
  f: (page) => {
    page.setRange(0, Infinity);
    if (!page.seesResults) page.store.change({ zoom: WHOLE });
  },
  m: (page) => {
    const { mark, moment } = page.store.view;
    page.store.change({ mark: mark === moment ? null : moment });
  },
  Escape: (page) => page.store.change({ selection: null }),
};

function onKey(page: Page, event: KeyboardEvent) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target as HTMLElement;
  if (target.matches("input:not([type=checkbox]), select, textarea")) return;
  if (event.key === " " && target.matches("button, input")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (page.seesResults && key === "Escape") page.choose({ row: -1 });
  if (page.seesResults && !(page.strips.length > 0 && "wsadf".includes(key))) return;
  const act = KEYS[key];
  if (act === undefined) return;
  event.preventDefault();
  act(page);
}

export function App({ page }: { page: Page }) {
  useView(page.store);
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(page, event);
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, [page]);
  const wide = useMedia("(min-width: 1900px)");
  const { current, other, findings } = page;
  if (findings !== null && page.seesResults) return <ResultsPage page={page} findings={findings} />;
  return (
    <div class={wide ? "page wide" : "page"}>
      <Toolbar page={page} />
      <main>
        <div class="stages">
          <Stage page={page} loaded={current} />
          {other !== null && <Stage page={page} loaded={other} />}
        </div>
        {page.timed && <Timeline page={page} />}
        {page.timed && <GanttPane page={page} loaded={current} />}
      </main>
      <Panels page={page} />
      {wide && <Panels page={page} second="links" />}
      <footer class="soft">
        space plays, arrows step by event, W/S zoom in time, A/D pan, F fits, M sets a mark,
        Esc lets go
      </footer>
    </div>
  );
}
