// Room on a drawing for words that mustn't overlap: a grid of cells, each taken or free.

const CELL = 6;

export class Room {
  private readonly taken = new Set<string>();

  /** Takes a box around a point, free or not. */
  keep(x: number, y: number, width: number, height: number) {
    for (const cell of cellsOf(x, y, width, height)) this.taken.add(cell);
  }

  /** Takes a box around a point where all of it is free, and says whether it was. */
  take(x: number, y: number, width: number, height: number): boolean {
    if (cellsOf(x, y, width, height).some((cell) => this.taken.has(cell))) return false;
    this.keep(x, y, width, height);
    return true;
  }
}

function cellsOf(x: number, y: number, width: number, height: number): string[] {
  const cells: string[] = [];
  for (let i = Math.floor((x - width / 2) / CELL); i <= (x + width / 2) / CELL; i++) {
    for (let j = Math.floor((y - height / 2) / CELL); j <= (y + height / 2) / CELL; j++) {
      cells.push(`${i} ${j}`);
    }
  }
  return cells;
}
