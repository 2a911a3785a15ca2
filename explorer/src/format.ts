// The data that a page carries: the format "tutti-explore", version 2.
//
// The C++ program writes one Data object as JSON into the page, with every "<" as \u003c. Small
// things are plain JSON; the hops, millions of them, are packed columns, and results are packed as
// a whole. Times are picoseconds, all small enough that a double holds them exactly.

export interface Data {
  format: "tutti-explore";
  version: 2;
  title: string;
  /** The command that makes this page. */
  command: string;
  /** What can be played on a network; may be empty where there are results. */
  runs: Run[];
  /** A Results object as JSON, packed; null where there are runs only. */
  results: Bytes | null;
}

export interface Results {
  tables: Table[];
  timelines: Timeline[];
}

/** Rows of typed columns: of an experiment, the points of a sweep, verdicts, ... */
export interface Table {
  title: string;
  /** Paragraphs to be read before the table: what it shows, how to read it. */
  notes: string[];
  /** All with as many values. */
  columns: TableColumn[];
  /** What to draw at first; null: nothing but the table. */
  chart: Chart | null;
  /** Per row the index of its run in Data.runs, -1 where it has none; [] where no row has one. */
  runs: number[];
  /** Pictures that were made of the table. */
  pictures: { title: string; svg: string }[];
}

export type Quantity =
  | "text" | "texts" | "truth" | "count" | "bytes" | "time" | "rate" | "ratio" | "part" | "numeral"
  | "number" | "amount" | "fact" | "seconds" | "effort";

export interface TableColumn {
  /** "lower_bound_ps": unique in its table. */
  name: string;
  /** "lower bound". */
  title: string;
  /**
   * What it counts, and so how it is written: time in picoseconds, bytes, rate in bytes per second,
   * ratio of two ("1.05"), part of a whole (0.93 is 93 %), seconds and effort in seconds; text,
   * texts (joined by ", ") and numeral ("3/2", a text that is read as a number) are strings.
   */
  quantity: Quantity;
  /** key: which case it was; metric: what came out; note: in words; cost: what it took. */
  role: "key" | "metric" | "note" | "cost";
  better: "lower" | "higher";
  /** A sentence for a tooltip; may be empty. */
  meaning: string;
  /** null where it isn't known. */
  values: (string | number | boolean | null)[];
}

/** All name columns; lists that are empty, and "", mean none. */
export interface Chart {
  /**
   * points: one per row. curves: rows that agree in `by` are joined along x, one curve for each y,
   * with a band from `low` to `high` around the last one. parts: a bar per row, `y` stacked in it.
   */
  kind: "points" | "curves" | "parts";
  /** Of parts: what the bars are called, by all of `by`. */
  x: string;
  y: string[];
  by: string[];
  low: string;
  high: string;
}

/** What each NPU does over an iteration of training. The columns have an entry per span. */
export interface Timeline {
  title: string;
  length_ps: number;
  npus: string[];
  names: string[];
  /** "compute" first, then purposes of communication: "tensor", "data", ... */
  kinds: string[];
  /** Indices into npus, names and kinds. */
  npu: number[];
  name: number[];
  kind: number[];
  start: number[];
  duration: number[];
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
  /** What happened on the way, by time: a link failed, a new plan came into force. */
  moments: Moment[];
}

export interface Moment {
  at_ps: number;
  /** "npu3>npu4 fails". */
  words: string;
  /** Indices of links and nodes that are dead from then on, or alive again. */
  links_down: number[];
  links_up: number[];
  nodes_down: number[];
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
    /** Indices of nodes that are dead from the beginning. */
    dead: number[];
    /** Index into groups, -1 of a node that stands alone; [] where there are no groups. */
    group: number[];
  };
  /** Racks, servers, ...: what large networks are folded into; named as pictures name them. */
  groups: string[];
  links: {
    from: number[];
    to: number[];
    latency_ps: number[];
    bytes_per_s: number[];
    /** Indices of links that are dead from the beginning. */
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
  /** 1 where only the whole is known. */
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
