// A button that unfolds a list of things to tick.

interface Props {
  title: string;
  /** What the button says of what is ticked. */
  says: string;
  options: [number, string][];
  chosen: number[];
  onChange: (chosen: number[]) => void;
}

export function Menu({ title, says, options, chosen, onChange }: Props) {
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
          <label key={value}>
            <input
              type="checkbox" checked={chosen.includes(value)}
              onChange={() => onChange(chosen.includes(value)
                ? chosen.filter((other) => other !== value) : [...chosen, value])}
            />
            <span class="name">{words || "nothing"}</span>
          </label>
        ))}
      </div>
    </details>
  );
}
