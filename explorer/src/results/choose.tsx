// A list from which one thing is chosen.

interface Props<T extends string | number> {
  title: string;
  value: T;
  options: [T, string][];
  onChange: (value: T) => void;
}

export function Choose<T extends string | number>({ title, value, options, onChange }: Props<T>) {
  return (
    <label class="field">
      {title}
      <select
        value={value} onChange={(event) => onChange(options[event.currentTarget.selectedIndex][0])}
      >
        {options.map(([key, words]) => <option key={key} value={key}>{words}</option>)}
      </select>
    </label>
  );
}
