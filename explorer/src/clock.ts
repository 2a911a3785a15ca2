// The page's clock: turns real time into moments of the run.
//
// It is asked, once per frame, what moment it is; it never ticks by itself. Real time comes from
// a function, so that tests can hold it.

/** Playing the whole run at speed 1 takes this long. */
export const WHOLE_MS = 20_000;

export class Clock {
  playing = false;
  private base = 0;
  private since = 0;
  private factor = 1;

  /** `length`: the length of the run in picoseconds; `now`: real time in milliseconds. */
  constructor(public length: number, private readonly now: () => number) {}

  get moment(): number {
    const passed = this.playing ? (this.now() - this.since) / WHOLE_MS : 0;
    return Math.min(this.length, this.base + passed * this.length * this.factor);
  }

  get speed(): number {
    return this.factor;
  }

  set speed(factor: number) {
    this.seek(this.moment);
    this.factor = factor;
  }

  seek(moment: number) {
    this.base = Math.max(0, Math.min(this.length, moment));
    this.since = this.now();
  }

  /** Plays on, from the beginning where the run is over; or stands still. */
  play(on = true) {
    this.seek(on && this.moment >= this.length ? 0 : this.moment);
    this.playing = on;
  }

  /** Sets another length, as when another run is shown; the moment is kept where it can be. */
  fit(length: number) {
    const { moment } = this;
    this.length = length;
    this.seek(moment);
  }
}
