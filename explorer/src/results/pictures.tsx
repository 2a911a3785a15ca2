// Pictures that were made of a table, shown as images, in which no script runs.

import { useMemo, useState } from "preact/hooks";
import type { Table } from "../format.ts";
import { shown } from "../words.ts";

const OPEN = 3;

function addressOf(svg: string): string {
  let text = "";
  for (const byte of new TextEncoder().encode(svg)) text += String.fromCharCode(byte);
  return `data:image/svg+xml;base64,${btoa(text)}`;
}

function Picture({ picture }: { picture: Table["pictures"][number] }) {
  const [full, setFull] = useState(false);
  const address = useMemo(() => addressOf(picture.svg), [picture]);
  const title = shown(picture.title, 200);
  return (
    <figure class={full ? "full" : ""}>
      <button class="plain" aria-pressed={full} onClick={() => setFull(!full)}>
        <img src={address} alt={title} loading="lazy" />
      </button>
      <figcaption class="soft name">{title}</figcaption>
    </figure>
  );
}

export function Pictures({ pictures }: { pictures: Table["pictures"] }) {
  const [open, setOpen] = useState(false);
  const [first, rest] = [pictures.slice(0, OPEN), pictures.slice(OPEN)];
  return (
    <>
      {first.length > 0 && (
        <div class="pictures">{first.map((it, i) => <Picture key={i} picture={it} />)}</div>
      )}
      {rest.length > 0 && (
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{rest.length} more picture{rest.length > 1 ? "s" : ""}</summary>
          {open && (
            <div class="pictures">{rest.map((it, i) => <Picture key={i} picture={it} />)}</div>
          )}
        </details>
      )}
    </>
  );
}
