// What is clicked: lists to choose or tick from, things to turn on, and commands to copy.

import { useState } from "preact/hooks";
import { shown } from "./words.ts";

interface ChooseProps<T extends string | number> {
  title: string; value: T; options: [T, string][]; onChange: (value: T) => void;
}

/** A list from which one thing is chosen. */
export function Choose<T extends string | number>(props: ChooseProps<T>) {
  const { title, value, options, onChange } = props;
  return (
    <label class="field">
      {title}
      <select
        value={value} onChange={(event) => onChange(options[event.currentTarget.selectedIndex][0])}
      >
        {options.map(([key, words]) => <option key={key} value={key}>{shown(words, 60)}</option>)}
      </select>
    </label>
  );
}

interface CheckProps {
  words: string; on: boolean; onChange: (on: boolean) => void; title?: string; disabled?: boolean;
}

export function Check({ words, on, onChange, title, disabled }: CheckProps) {
  return (
    <label class="check" title={title}>
      <input type="checkbox" checked={on} disabled={disabled} onChange={() => onChange(!on)} />
      <span class="name">{words}</span>
    </label>
  );
}

interface MenuProps {
  title: string;
  /** What the button says of what is ticked. */
  says: string;
  options: [number, string][]; chosen: number[]; onChange: (chosen: number[]) => void;
}

/** A button that unfolds a list of things to tick. */
export function Menu({ title, says, options, chosen, onChange }: MenuProps) {
  return (
    <details
      class="menu" name="menu"
      onFocusOut={(event) => {
        const menu = event.currentTarget;
        if (!menu.contains(event.relatedTarget as Node | null)) menu.open = false;
      }}
    >
      <summary><span class="soft">{title}</span> {says}</summary>
      <div tabIndex={-1} role="group" aria-label={title}>
        {options.map(([value, words]) => (
          <Check
            key={value} words={words || "nothing"} on={chosen.includes(value)}
            onChange={(on) =>
              onChange(on ? [...chosen, value] : chosen.filter((other) => other !== value))}
          />
        ))}
      </div>
    </details>
  );
}

export function Copy({ text }: { text: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    setSaid(await navigator.clipboard.writeText(text).then(() => "copied", () => "can't copy"));
    setTimeout(() => setSaid(""), 1500);
  };
  return <button title={text.slice(0, 1000)} onClick={copy}>{said || "copy as command"}</button>;
}
