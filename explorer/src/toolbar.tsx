// The bar above the drawing: which run, how it is coloured, what to find, and what to take away.

import { useState } from "preact/hooks";
import { savePng, saveSvg } from "./export.ts";
import { WHOLE } from "./geometry.ts";
import { useView } from "./hooks.ts";
import { colourings } from "./measure.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";
import { COLOURINGS, type Colouring, type Selection } from "./state.ts";
import { shown } from "./words.ts";

export const nextTheme = { auto: "light", light: "dark", dark: "auto" } as const;

/** Between the network and the results, where a page has both. */
export function ViewChoice({ page }: { page: Page }) {
  if (page.findings === null || page.data.runs.length === 0) return <></>;
  return (
    <span class="views" role="group" aria-label="what to see">
      {(["results", "network"] as const).map((view) => (
        <button
          key={view} type="button" aria-pressed={page.seesResults === (view === "results")}
          onClick={() => page.show({ view })}
        >
          {view}
        </button>
      ))}
    </span>
  );
}

export function Toolbar({ page }: { page: Page }) {
  const view = useView(page.store);
  const { store, data, current } = page;
  const able = colourings(current, page.other);
  return (
    <header>
      {page.problem !== "" && <p role="alert" class="problem">{page.problem}</p>}
      <h1 class="name" title={data.title.slice(0, 300)}>{data.title.slice(0, 300) || "Tutti"}</h1>
      <ViewChoice page={page} />
      {data.runs.length > 1 && (
        <label class="field">
          run
          <select
            value={view.run}
            onChange={(event) => page.show({ run: Number(event.currentTarget.value) })}
          >
            {data.runs.map((run, i) => <option key={i} value={i}>{shown(run.label, 60)}</option>)}
          </select>
        </label>
      )}
      {data.runs.length > 1 && (
        <label class="check">
          <input
            type="checkbox" checked={view.other >= 0}
            onChange={() => page.show({
              other: view.other >= 0 ? -1 : (view.run + 1) % data.runs.length,
            })}
          />
          side by side
        </label>
      )}
      <label class="field">
        colour by
        <select
          value={able.includes(view.colouring) ? view.colouring : able[0]}
          onChange={(event) => store.change({ colouring: event.currentTarget.value as Colouring })}
        >
          {able.map((key) => <option key={key} value={key}>{COLOURINGS[key]}</option>)}
        </select>
      </label>
      <Find page={page} loaded={current} />
      <label class="field">
        chunk
        <input
          type="number" min={0} max={current.run.chunks.count - 1} class="short"
          placeholder="none"
          value={view.selection?.kind === "chunk" ? view.selection.id : ""}
          onInput={(event) => {
            const { value } = event.currentTarget;
            const id = Number(value);
            const exists = value !== "" && id >= 0 && id < current.run.chunks.count;
            store.change({
              selection: exists ? { kind: "chunk", id: Math.floor(id) } : null,
              tab: exists ? "selection" : store.view.tab,
            });
          }}
        />
      </label>
      {page.folding(current).folds && (
        <label class="check" title="groups of nodes as one square each, until they are near">
          <input
            type="checkbox" checked={view.fold} onChange={() => store.change({ fold: !view.fold })}
          />
          fold
        </label>
      )}
      {current.run.cut.length > 0 && (
        <label class="check">
          <input
            type="checkbox" checked={view.cut} onChange={() => store.change({ cut: !view.cut })}
          />
          cut
        </label>
      )}
      {current.critical.size > 0 && (
        <label class="check">
          <input
            type="checkbox" checked={view.critical}
            onChange={() => store.change({ critical: !view.critical })}
          />
          critical path
        </label>
      )}
      <span class="group">
        <button
          type="button" title="the whole network" onClick={() => store.change({ zoom: WHOLE })}
        >
          fit
        </button>
        <Copy text={current.run.command} />
        <button type="button" onClick={() => savePng(page)}>PNG</button>
        <button type="button" onClick={() => saveSvg(page)}>SVG</button>
        <button
          type="button"
          onClick={() => page.setTheme(nextTheme[view.theme])}
        >
          theme: {view.theme}
        </button>
      </span>
    </header>
  );
}

export function Copy({ text }: { text: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("copied");
    } catch {
      setSaid("can't copy");
    }
    setTimeout(() => setSaid(""), 1500);
  };
  return (
    <button type="button" title={text.slice(0, 1000)} onClick={copy}>
      {said || "copy as command"}
    </button>
  );
}

const MOST_FOUND = 8;

/** A box that finds nodes, then links, by a part of their names. */
function Find({ page, loaded }: { page: Page; loaded: Loaded }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const search = (names: string[], kind: "node" | "link") =>
    names.flatMap((name, id) =>
      name.toLowerCase().includes(wanted) ? [{ thing: { kind, id } as Selection, name }] : []);
  const all = wanted === "" ? []
    : [...search(loaded.nodeNames, "node"), ...search(loaded.linkNames, "link")];
  const exact = all.filter(({ name }) => name.toLowerCase() === wanted);
  const found = [...exact, ...all.filter((item) => !exact.includes(item))].slice(0, MOST_FOUND);
  const choose = (thing: Selection) => {
    setText("");
    page.store.change({ selection: thing, tab: "selection" });
  };
  return (
    <form
      class="find" role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (found.length > 0) choose(found[0].thing);
      }}
    >
      <input
        type="search" placeholder="find a node or link" aria-label="find a node or link"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && setText("")}
      />
      {wanted !== "" && (
        <ul>
          {found.map(({ thing, name }) => (
            <li key={`${thing?.kind}${thing?.id}`}>
              <button type="button" class="plain name" onClick={() => choose(thing)}>{name}</button>
            </li>
          ))}
          {found.length === 0 && <li class="soft">nothing has that name</li>}
          {all.length > MOST_FOUND && <li class="soft">and {all.length - MOST_FOUND} more</li>}
        </ul>
      )}
    </form>
  );
}
