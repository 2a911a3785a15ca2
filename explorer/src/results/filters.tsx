// The filters above the table: a text to be found, texts to be ticked, ranges from the chart.

import { Menu } from "../controls.tsx";
import type { Choices } from "./choices.ts";
import type { Sheet } from "./sheet.ts";
import { brief } from "./written.ts";
import { whole } from "../words.ts";

interface Props {
  sheet: Sheet;
  choices: Choices;
  shown: number;
  choose: (part: Partial<Choices>) => void;
}

export const NO_FILTER: Partial<Choices> = { find: "", only: {}, within: {}, front: false };

export function Filters({ sheet, choices, shown, choose }: Props) {
  const { find, only, within, front } = choices;
  const without = <T,>(filters: Record<number, T>, field: number) =>
    Object.fromEntries(Object.entries(filters).filter(([key]) => Number(key) !== field));
  const tick = (field: number, ranks: number[]) =>
    choose({ only: { ...without(only, field), ...(ranks.length > 0 && { [field]: ranks }) } });
  const any = find !== "" || front || Object.keys({ ...only, ...within }).length > 0;
  return (
    <div class="bar" role="search">
      <input
        type="search" placeholder="find a text" aria-label="find a text" value={find}
        onInput={(event) => choose({ find: event.currentTarget.value })}
      />
      {sheet.fields.filter(({ choices }) => choices.length > 0).map((field) => {
        const chosen = only[field.index] ?? [];
        const says = chosen.length === 0 ? "all" : chosen.length > 1 ? `${chosen.length}`
          : field.choices[chosen[0]].slice(0, 20);
        return (
          <Menu
            key={field.index} title={field.title} says={says} chosen={chosen}
            options={field.choices.map((text, rank) => [rank, text.slice(0, 80)])}
            onChange={(ranks) => tick(field.index, ranks)}
          />
        );
      })}
      {Object.entries(within).map(([key, range]) => {
        const { title, column } = sheet.fields[Number(key)];
        const [low, high] = range.map((value) => brief(value, column.quantity));
        return (
          <button
            key={key} title="let all through again"
            onClick={() => choose({ within: without(within, Number(key)) })}
          >
            {title}: {low} to {high} {"\u00d7"}
          </button>
        );
      })}
      {front && <button onClick={() => choose({ front: false })}>on the front {"\u00d7"}</button>}
      <span class="soft" aria-live="polite">{whole(shown)} of {whole(sheet.rows)} rows</span>
      <button disabled={!any} onClick={() => choose(NO_FILTER)}>clear</button>
    </div>
  );
}
