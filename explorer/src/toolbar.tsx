// The bar above the drawing: which run, how it is coloured, what to find, and what to take away.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Check, Choose, Copy } from "./controls.tsx";
import { savePng, saveSvg } from "./export.ts";
import { WHOLE } from "./geometry.ts";
import { colourings } from "./measure.ts";
import type { Page } from "./page.ts";
import type { Loaded } from "./run.ts";
import { COLOURINGS, keysOf, type Selection, useView } from "./state.ts";

const NEXT_THEME = { auto: "light", light: "dark", dark: "auto" } as const;

interface HeaderProps {
  page: Page; command: string;
  /** Whether there is a picture to save. */
  drawn: boolean;
  children?: ComponentChildren;
}

/** What is above the network and above results: their choice, and what to take away. */
export function Header({ page, command, drawn, children }: HeaderProps) {
  const { theme, choices } = useView(page.store);
  const title = page.data.title.slice(0, 300) || "Tutti";
  const both = page.findings !== null && page.data.runs.length > 0;
  return (
    <header>
      {page.problem !== "" && <p role="alert" class="problem">{page.problem}</p>}
      <h1 class="name" title={title}>{title}</h1>
      {both && (
        <span class="views" role="group" aria-label="what to see">
          {(["results", "network"] as const).map((view) => (
            <button
              key={view} aria-pressed={page.seesResults === (view === "results")}
              onClick={() => page.show({ view })}
            >
              {view}
            </button>
          ))}
        </span>
      )}
      {both && !page.seesResults && choices.row >= 0 && (
        <button onClick={() => page.show({ view: "results" })}>{"\u2190"} back to results</button>
      )}
      {children}
      <span class="group">
        {!page.seesResults && (
          <button title="the whole network" onClick={() => page.store.change({ zoom: WHOLE })}>
            fit
          </button>
        )}
        <Copy text={command} />
        <button disabled={!drawn} onClick={() => savePng(page)}>PNG</button>
        <button disabled={!drawn} onClick={() => saveSvg(page)}>SVG</button>
        <button onClick={() => page.setTheme(NEXT_THEME[theme])}>theme: {theme}</button>
      </span>
    </header>
  );
}

export function Toolbar({ page }: { page: Page }) {
  const view = useView(page.store);
  const { store, data: { runs }, current } = page;
  const able = colourings(current, page.other);
  const check = (key: "fold" | "cut" | "critical", words: string, title?: string) => {
    const change = (on: boolean) => store.change({ [key]: on });
    return <Check words={words} title={title} on={view[key]} onChange={change} />;
  };
  return (
    <Header page={page} command={current.run.command} drawn>
      {runs.length > 1 && (
        <>
          <Choose
            title="run" value={view.run} onChange={(run) => page.show({ run })}
            options={runs.map(({ label }, i) => [i, label])}
          />
          <Check
            words="side by side" on={view.other >= 0}
            onChange={(on) => page.show({ other: on ? (view.run + 1) % runs.length : -1 })}
          />
        </>
      )}
      <Choose
        title="colour by" value={able.includes(view.colouring) ? view.colouring : able[0]}
        options={able.map((key) => [key, COLOURINGS[key]])}
        onChange={(colouring) => store.change({ colouring })}
      />
      <Find page={page} loaded={current} />
      <label class="field">
        chunk
        <input
          type="number" min={0} max={current.run.chunks.count - 1} class="short"
          placeholder="none"
          value={view.selection?.kind === "chunk" ? view.selection.id : ""}
          onInput={({ currentTarget: { value } }) => {
            const id = Math.floor(Number(value));
            const exists = value !== "" && id >= 0 && id < current.run.chunks.count;
            store.change(exists ? { selection: { kind: "chunk", id }, tab: "selection" }
              : { selection: null });
          }}
        />
      </label>
      {page.folding(current).folds
        && check("fold", "fold", "groups of nodes as one square each, until they are near")}
      {current.run.cut.length > 0 && check("cut", "cut")}
      {current.critical.size > 0 && check("critical", "critical path")}
    </Header>
  );
}

const MOST_FOUND = 8;

/** A box that finds nodes, then links, by a part of their names. */
function Find({ page, loaded }: { page: Page; loaded: Loaded }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const names = { node: loaded.nodeNames, link: loaded.linkNames };
  const all = wanted === "" ? [] : keysOf(names).flatMap((kind) => names[kind]
    .map((name, id) => ({ name, thing: { kind, id } }))
    .filter(({ name }) => name.toLowerCase().includes(wanted)));
  // Whose name it is comes first.
  const apart = ({ name }: { name: string }) => Number(name.toLowerCase() !== wanted);
  const found = all.sort((a, b) => apart(a) - apart(b)).slice(0, MOST_FOUND);
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
            <li key={`${thing.kind}${thing.id}`}>
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
