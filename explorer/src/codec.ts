// Reads and writes the fragment of the page's address, field by field: numbers and words joined by
// "_". What is missing or makes no sense is as at the start.

export class Fragment {
  private readonly fields: URLSearchParams;

  constructor(text: string) {
    this.fields = new URLSearchParams(text.replace(/^#/, ""));
  }

  text(key: string): string {
    return this.fields.get(key) ?? "";
  }

  /** All fields of that name, in their parts. */
  all(key: string): string[][] {
    return this.fields.getAll(key).map((value) => value.split("_"));
  }

  parts(key: string): string[] {
    return this.text(key).split("_");
  }

  /** One of these words. */
  word<T extends string>(key: string, words: readonly T[], otherwise: T): T {
    return words.find((word) => word === this.text(key)) ?? otherwise;
  }

  index<T>(key: string, limit: number, otherwise: T): number | T {
    return indexOf(this.text(key), limit) ?? otherwise;
  }

  on(key: string, otherwise: boolean): boolean {
    return this.word(key, ["1", "0"], otherwise ? "1" : "0") === "1";
  }

  range(key: string): [number, number] | null {
    const [from, to] = this.parts(key).map(Number);
    return from >= 0 && to > from && Number.isFinite(to) ? [from, to] : null;
  }
}

/** A whole number below a limit. */
export const indexOf = (text: string, limit: number): number | null =>
  (/^\d{1,15}$/.test(text) && Number(text) < limit ? Number(text) : null);

export type Fields = [key: string, value: string][];

/** The fields of all values that aren't as they are at the start. */
export function fieldsOf<T extends object>(
  value: T, start: T, written: { [K in keyof T]?: (value: NonNullable<T[K]>) => string },
): Fields {
  return (Object.keys(written) as (keyof T & string)[])
    .filter((key) => value[key] !== start[key])
    .map((key) => [key, value[key] === null ? "" : written[key]?.(value[key]!) ?? ""]);
}
