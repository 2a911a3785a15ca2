// The tabs beside the drawing.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Page } from "./page.ts";
import { Arriving } from "./panels/arriving.tsx";
import { Compare } from "./panels/compare.tsx";
import { Facts } from "./panels/facts.tsx";
import { Links, Nodes } from "./panels/links.tsx";
import { Selected } from "./panels/selected.tsx";
import { Waiting } from "./panels/waiting.tsx";
import { Why } from "./panels/why.tsx";
import type { Loaded } from "./run.ts";
import { useView } from "./state.ts";

type Panel = (props: { page: Page; loaded: Loaded }) => JSX.Element;

const TABS: Record<string, [string, Panel]> = {
  facts: ["Facts", Facts],
  selection: ["Selection", Selected],
  links: ["Links", Links],
  nodes: ["Nodes", Nodes],
  why: ["Why", Why],
  waiting: ["Waiting", Waiting],
  arrivals: ["Arrivals", Arriving],
  compare: ["Compare", Compare],
};

interface TabsProps<T> { tabs: [T, string][]; chosen: T; choose: (key: T) => void }

export function Tabs<T extends string | number>({ tabs, chosen, choose }: TabsProps<T>) {
  return (
    <div role="tablist" class="tabs">
      {tabs.map(([key, title]) => (
        <button
          key={key} role="tab" class="name" aria-selected={key === chosen}
          onClick={() => choose(key)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

/** Tabs and the panel of the chosen one; a second set of tabs keeps its own choice. */
export function Panels({ page, second }: { page: Page; second?: string }) {
  const view = useView(page.store);
  const [own, setOwn] = useState(second ?? "");
  const keys = Object.keys(TABS).filter((key) => key !== "compare" || page.data.runs.length > 1);
  const wanted = second === undefined ? view.tab : own;
  const tab = keys.includes(wanted) ? wanted : "facts";
  const [title, Panel] = TABS[tab];
  return (
    <section class="panels" aria-label="numbers">
      <Tabs
        tabs={keys.map((key) => [key, TABS[key][0]])} chosen={tab}
        choose={(key) => (second === undefined ? page.store.change({ tab: key }) : setOwn(key))}
      />
      <div role="tabpanel" class="panel" aria-label={title} tabIndex={0}>
        <Panel page={page} loaded={page.current} />
      </div>
    </section>
  );
}
