// What is told beside the pointer, on the side where there is room.

interface Props {
  x: number;
  y: number;
  /** The size of the drawing. */
  width: number;
  height: number;
  rows: [string, string][];
}

export function Tip({ x, y, width, height, rows }: Props) {
  const beside = (at: number, most: number) =>
    (at > most / 2 ? ["auto", `${most - at + 14}px`] : [`${at + 14}px`, "auto"]);
  const [[left, right], [top, bottom]] = [beside(x, width), beside(y, height)];
  return (
    <table class="tip" style={{ left, right, top, bottom }}>
      {rows.map(([key, value]) => <tr key={key}><th>{key}</th><td class="name">{value}</td></tr>)}
    </table>
  );
}
