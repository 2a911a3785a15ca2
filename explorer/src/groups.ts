// Items grouped by a key in two flat arrays: the hops of each link, of each chunk, and so on; and
// a search among sorted ones.

export interface Groups {
  /** Group k is items[first[k]] to items[first[k + 1] - 1]. */
  first: Uint32Array;
  items: Uint32Array;
}

/** Groups 0 .. keys.length - 1 by key, keeping their order in each group. */
export function groupBy(keys: ArrayLike<number>, groups: number): Groups {
  const first = new Uint32Array(groups + 1);
  for (let i = 0; i < keys.length; i++) first[keys[i] + 1]++;
  for (let k = 0; k < groups; k++) first[k + 1] += first[k];
  const next = first.slice(0, groups);
  const items = new Uint32Array(keys.length);
  for (let i = 0; i < keys.length; i++) items[next[keys[i]]++] = i;
  return { first, items };
}

/** None where there is no such group. */
export const group = (groups: Groups, key: number): Uint32Array =>
  groups.items.subarray(groups.first[key] ?? Infinity, groups.first[key + 1]);

/** Things by a key, in the order of their first. */
export function byKey<T, K>(things: Iterable<T>, key: (thing: T) => K): Map<K, T[]> {
  const result = new Map<K, T[]>();
  for (const thing of things) {
    const those = result.get(key(thing));
    if (those === undefined) result.set(key(thing), [thing]);
    else those.push(thing);
  }
  return result;
}

/** The first of `count` things for which `late` holds, which it does for all after it. */
export function firstOf(count: number, late: (i: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (late(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export const ORDER = new Intl.Collator("en", { numeric: true });

/** Things sorted by numbers or texts; where nothing is known (NaN) comes last. */
export function inOrder(
  things: number[], value: (thing: number) => number | string, falling: boolean,
): number[] {
  const sign = falling ? -1 : 1;
  const keyed = things.map((thing) => ({ thing, key: value(thing) }));
  const order = (a: number | string, b: number | string) => (typeof a === "string"
    ? sign * ORDER.compare(a, String(b))
    : Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || sign * (a - Number(b)));
  keyed.sort((a, b) => order(a.key, b.key) || a.thing - b.thing);
  return keyed.map(({ thing }) => thing);
}
