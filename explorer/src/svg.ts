// The pen that writes an SVG file.

import { FONT, type Lettering, Pen } from "./pen.ts";

const n = (x: number) => String(Math.round(100 * x) / 100);
const MARKS: Record<string, string> = {
  "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#39;",
};
const escapeXml = (text: string) => text.replace(/[<>&"']/g, (mark) => MARKS[mark]);

/** A path's letter and its numbers. */
const step = (letter: string, ...at: number[]) => letter + at.map(n).join(" ");

export class SvgPen extends Pen {
  private readonly parts: string[] = [];
  private path = "";
  private alpha = 1;
  private clips = 0;

  constructor(private readonly width: number, private readonly height: number) {
    super();
  }

  begin() {
    this.path = "";
  }

  move(x: number, y: number) {
    this.path += step("M", x, y);
  }

  line(x: number, y: number) {
    this.path += step("L", x, y);
  }

  curve(controlX: number, controlY: number, x: number, y: number) {
    this.path += step("Q", controlX, controlY, x, y);
  }

  circle(x: number, y: number, r: number) {
    this.path += step("M", x + r, y) + step("a", r, r, 0, 1, 1, -2 * r, 0)
      + step("a", r, r, 0, 1, 1, 2 * r, 0) + "z";
  }

  box(x: number, y: number, width: number, height: number, corner = 0) {
    const r = Math.min(corner, width / 2, height / 2);
    const arc = (dx: number, dy: number) => (r > 0 ? step("a", r, r, 0, 0, 1, dx, dy) : "");
    this.path += step("M", x + r, y) + step("h", width - 2 * r) + arc(r, r)
      + step("v", height - 2 * r) + arc(-r, r) + step("h", 2 * r - width) + arc(-r, -r)
      + step("v", 2 * r - height) + arc(r, -r) + "z";
  }

  stroke(colour: string, width: number, dash: number[] = []) {
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.put(`fill="none" stroke="${escapeXml(colour)}" stroke-width="${n(width)}"${dashes}`);
  }

  fill(colour: string) {
    this.put(`fill="${escapeXml(colour)}"`);
  }

  opacity(share: number) {
    this.alpha = share;
  }

  words(text: string, x: number, y: number, style: Lettering) {
    const anchor = { start: "start", center: "middle", end: "end" }[style.align ?? "start"];
    const halo = style.halo === undefined ? ""
      : ` stroke="${escapeXml(style.halo)}" stroke-width="3" paint-order="stroke"`;
    this.parts.push(`<text x="${n(x)}" y="${n(y)}" font-size="${style.size}"`
      + ` text-anchor="${anchor}" fill="${escapeXml(style.colour)}"${halo}`
      + `${style.bold ? ' font-weight="600"' : ""}${this.seen()}>${escapeXml(text)}</text>`);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void) {
    const id = `clip${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><path d="M0 0h${n(width)}v${n(height)}h${n(-width)}z"/></clipPath>`,
      `<g transform="translate(${n(x)} ${n(y)})" clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  /** The whole file. */
  file(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}"`
      + ` viewBox="0 0 ${this.width} ${this.height}" font-family="${escapeXml(FONT)}">\n`
      + `${this.parts.join("\n")}\n</svg>\n`;
  }

  private put(attributes: string) {
    if (this.path !== "") this.parts.push(`<path d="${this.path}" ${attributes}${this.seen()}/>`);
  }

  private seen(): string {
    return this.alpha < 1 ? ` opacity="${n(this.alpha)}"` : "";
  }
}
