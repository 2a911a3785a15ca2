// The data that a page carries: the format "tutti-explore", version 1.
//
// The C++ program writes one Data object as JSON into the page, with every "<" as \u003c. Small
// things are plain JSON; the hops, millions of them, are packed columns. Times are picoseconds,
// all small enough that a double holds them exactly.

export interface Data {
  format: "tutti-explore";
  version: 1;
  title: string;
  /** The command that makes this page. */
  command: string;
  /** At least one. */
  runs: Run[];
}

export interface Run {
  /** For example "tacos, all_gather 64 MiB". */
  label: string;
  /** The command that makes this run. */
  command: string;
  /** A table in words: ["time", "351.1 us"], ["bound", ...], ... */
  facts: [string, string][];
  network: Network;
  chunks: Chunks;
  completion_ps: number;
  /** The lower bound that no schedule can beat; null where there is none. */
  bound_ps: number | null;
  bound_kind: string;
  /** The nodes inside the bound's cut; [] where there is none. */
  cut: number[];
  /** null where the run has none, or too many to write. */
  hops: PackedHops | null;
  bins: PackedBins;
  /** Indices of hops, in order, that the completion hangs on; [] where unknown. */
  critical: number[];
}

export interface Network {
  name: string;
  /** Height / width of the layout. */
  aspect: number;
  nodes: {
    name: string[];
    /** 0 an NPU, 1 a switch. */
    is_switch: number[];
    /** Both from 0 to 1; y goes down. */
    x: number[];
    y: number[];
    /** Node indices. */
    dead: number[];
  };
  links: {
    from: number[];
    to: number[];
    latency_ps: number[];
    bytes_per_s: number[];
    /** Link indices. */
    dead: number[];
    /**
     * Indices of links that would cross the picture, as those that wrap around a torus. Only a
     * short piece is drawn at each of their ends, on the side that faces away from the other end.
     */
    stubs: number[];
    /** Per link, over the whole run: bytes, transfers, and time busy. */
    bytes: number[];
    transfers: number[];
    busy_ps: number[];
  };
}

export interface Chunks {
  count: number;
  /** One per chunk, or a single one for all. */
  bytes: number[];
  /** Per chunk the node it begins at, -1 where it begins at several. */
  source: number[];
}

/** The hops of a run, one entry per hop in each column. */
export interface PackedHops {
  count: number;
  /** Hops in the run: more than `count` where only a part is here. */
  total: number;
  /** The window that the hops are from. */
  from_ps: number;
  to_ps: number;
  /** Ascending. */
  start: Column;
  duration: Column;
  link: Column;
  chunk: Column;
  transfer: Column;
  /** 1 where the hop's end reduces the chunk into what the receiver has, else 0. */
  reduces: Column;
  /** 1 where the hop is the last of its transfer, so that the receiver has the chunk, else 0. */
  arrives: Column;
}

/** How busy each link was in each of `count` equal bins of time. */
export interface PackedBins {
  count: number;
  width_ps: number;
  /** Row by link; 255 is a bin in which the link was busy throughout. */
  share: Bytes;
}

/** Unsigned LEB128 numbers, packed with raw deflate, in base64. */
export interface Column {
  /** Each number is the difference, never negative, to the one before; the first to 0. */
  delta: boolean;
  data: string;
}

/** Bytes, packed with raw deflate, in base64. */
export interface Bytes {
  data: string;
}
