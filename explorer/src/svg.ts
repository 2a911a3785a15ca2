// The pen that writes an SVG file.

import { FONT, type Lettering, Pen } from "./pen.ts";

const n = (x: number) => String(Math.round(100 * x) / 100);

export function escapeXml(text: string): string {
  const marks: Record<string, string> = {
    "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#39;",
  };
  return text.replace(/[<>&"']/g, (mark) => marks[mark]);
}

export class SvgPen extends Pen {
  private readonly parts: string[] = [];
  private path: string[] = [];
  private alpha = 1;
  private clips = 0;

  constructor(private readonly width: number, private readonly height: number) {
    super();
  }

  begin() {
    this.path = [];
  }

  move(x: number, y: number) {
    this.path.push(`M${n(x)} ${n(y)}`);
  }

  line(x: number, y: number) {
    this.path.push(`L${n(x)} ${n(y)}`);
  }

  curve(controlX: number, controlY: number, x: number, y: number) {
    this.path.push(`Q${n(controlX)} ${n(controlY)} ${n(x)} ${n(y)}`);
  }

  circle(x: number, y: number, radius: number) {
    const arc = `a${n(radius)} ${n(radius)} 0 1 1`;
    this.path.push(`M${n(x + radius)} ${n(y)}${arc}${n(-2 * radius)} 0${arc}${n(2 * radius)} 0z`);
  }

  box(x: number, y: number, width: number, height: number, corner = 0) {
    const r = Math.min(corner, width / 2, height / 2);
    if (r <= 0) {
      this.path.push(`M${n(x)} ${n(y)}h${n(width)}v${n(height)}h${n(-width)}z`);
      return;
    }
    const arc = `a${n(r)} ${n(r)} 0 0 1`;
    this.path.push(
      `M${n(x + r)} ${n(y)}h${n(width - 2 * r)}${arc}${n(r)} ${n(r)}`,
      `v${n(height - 2 * r)}${arc}${n(-r)} ${n(r)}h${n(2 * r - width)}${arc}${n(-r)} ${n(-r)}`,
      `v${n(2 * r - height)}${arc}${n(r)} ${n(-r)}z`,
    );
  }

  stroke(colour: string, width: number, dash: number[] = []) {
    if (this.path.length === 0) return;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.parts.push(`<path d="${this.path.join("")}" fill="none" stroke="${escapeXml(colour)}"`
      + ` stroke-width="${n(width)}"${dashes}${this.shade()}/>`);
  }

  fill(colour: string) {
    if (this.path.length === 0) return;
    this.parts.push(`<path d="${this.path.join("")}" fill="${escapeXml(colour)}"${this.shade()}/>`);
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
      + `${style.bold ? ' font-weight="600"' : ""}${this.shade()}>${escapeXml(text)}</text>`);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void) {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><path d="M0 0h${n(width)}v${n(height)}`
      + `h${n(-width)}z"/></clipPath>`);
    this.parts.push(`<g transform="translate(${n(x)} ${n(y)})" clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  /** The whole file. */
  file(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}"`
      + ` viewBox="0 0 ${this.width} ${this.height}" font-family="${escapeXml(FONT)}">\n`
      + `${this.parts.join("\n")}\n</svg>\n`;
  }

  private shade(): string {
    return this.alpha < 1 ? ` opacity="${n(this.alpha)}"` : "";
  }
}
