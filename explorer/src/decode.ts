// Unpacks columns and bytes into typed arrays.
//
// Data that are cut short, too long or out of range are an error in words, never a silent zero.

import type { Bytes, Column } from "./format.ts";

/** Throws the words where something isn't so. */
export function demand(is: boolean, words: string) {
  if (!is) throw new Error(words);
}

async function inflate(base64: string, what: string): Promise<Uint8Array> {
  let text: string;
  try {
    text = atob(base64);
  } catch {
    throw new Error(`The ${what} can't be read: they aren't base64.`);
  }
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error(`The ${what} can't be unpacked: they are cut short or damaged.`);
  }
}

/** Text in UTF-8. */
export async function decodeText(bytes: Bytes, what: string): Promise<string> {
  return new TextDecoder().decode(await inflate(bytes.data, what));
}

/** The bytes, which must be `count`. */
export async function decodeBytes(bytes: Bytes, count: number, what: string) {
  const result = await inflate(bytes.data, what);
  demand(result.length === count,
    `The ${what} have ${result.length} bytes instead of ${count}.`);
  return result;
}

/** Fills `into` with the column's numbers, each of which must be below `limit`. */
export async function decodeColumn<A extends Float64Array | Uint32Array | Uint8Array>(
  column: Column, into: A, limit: number, what: string,
): Promise<A> {
  const bytes = await inflate(column.data, what);
  let at = 0;
  let sum = 0;
  for (let i = 0; i < into.length; i++) {
    let byte = bytes[at++];
    let value = byte & 127;
    // Multiplication, not shifts: times have more than 32 bits.
    for (let weight = 128; byte > 127; weight *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * weight;
    }
    if (at > bytes.length) {
      throw new Error(`The ${what} are cut short: ${into.length} were promised, ${i} are there.`);
    }
    sum = column.delta ? sum + value : value;
    if (!(sum < limit)) throw new Error(`The ${what} hold ${sum}, which is out of range.`);
    into[i] = sum;
  }
  demand(at === bytes.length, `The ${what} are too long: more than the ${into.length} promised.`);
  return into;
}
