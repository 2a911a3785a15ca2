// A small table of words: a name and a value in each row.

import type { ComponentChildren } from "preact";

export function Pairs({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <table class="facts">
      <tbody>
        {rows.map(([key, value], i) => (
          <tr key={i}>
            <th scope="row" class="name">{key.slice(0, 200)}</th>
            <td class="name">{typeof value === "string" ? value.slice(0, 2000) : value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
