// What drawings are made with: a handful of calls that a canvas and an SVG file both know.

export type Piece = readonly [x0: number, y0: number, x1: number, y1: number];

export abstract class Pen {
  abstract begin(): void;
  abstract move(x: number, y: number): void;
  abstract line(x: number, y: number): void;
  abstract curve(controlX: number, controlY: number, x: number, y: number): void;
  abstract circle(x: number, y: number, radius: number): void;
  abstract box(x: number, y: number, width: number, height: number, corner?: number): void;
  abstract stroke(colour: string, width: number, dash?: number[]): void;
  abstract fill(colour: string): void;
  /** How opaque what follows is. */
  abstract opacity(share: number): void;
  /** Words on a baseline; the halo is a rim in that colour. */
  abstract words(text: string, x: number, y: number, style: Lettering): void;
  /** Draws inside a box only, with the origin at its corner. */
  abstract within(x: number, y: number, width: number, height: number, draw: () => void): void;

  /** Begins anew, with lines. */
  lines(pieces: Piece[]) {
    this.begin();
    for (const [x0, y0, x1, y1] of pieces) {
      this.move(x0, y0);
      this.line(x1, y1);
    }
  }

  /** Begins anew, with one box that is filled. */
  block(x: number, y: number, width: number, height: number, colour: string, share = 1) {
    this.begin();
    this.box(x, y, width, height);
    this.shade(colour, share);
  }

  /** Fills less than wholly. */
  shade(colour: string, share: number) {
    this.opacity(share);
    this.fill(colour);
    this.opacity(1);
  }

  /** Strokes less than wholly. */
  glow(colour: string, width: number, share: number) {
    this.opacity(share);
    this.stroke(colour, width);
    this.opacity(1);
  }
}

export interface Lettering {
  size: number; colour: string; align?: "start" | "center" | "end"; halo?: string; bold?: boolean;
}

export const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

/** About how wide a text is, without asking the canvas. */
export const widthOf = (text: string, size: number) => 0.58 * size * text.length;

export class CanvasPen extends Pen {
  begin = () => this.context.beginPath();
  move = (x: number, y: number) => this.context.moveTo(x, y);
  line = (x: number, y: number) => this.context.lineTo(x, y);
  curve = (cx: number, cy: number, x: number, y: number) =>
    this.context.quadraticCurveTo(cx, cy, x, y);

  constructor(private readonly context: CanvasRenderingContext2D) {
    super();
  }

  circle(x: number, y: number, radius: number) {
    this.context.moveTo(x + radius, y);
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
  }

  box(x: number, y: number, width: number, height: number, corner = 0) {
    if (corner > 0) this.context.roundRect(x, y, width, height, corner);
    else this.context.rect(x, y, width, height);
  }

  stroke(colour: string, width: number, dash: number[] = []) {
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.setLineDash(dash);
    this.context.stroke();
  }

  fill(colour: string) {
    this.context.fillStyle = colour;
    this.context.fill();
  }

  opacity(share: number) {
    this.context.globalAlpha = share;
  }

  words(text: string, x: number, y: number, style: Lettering) {
    const { context } = this;
    context.font = `${style.bold ? "600 " : ""}${style.size}px ${FONT}`;
    context.textAlign = style.align ?? "start";
    context.direction = "ltr";
    if (style.halo !== undefined) {
      context.strokeStyle = style.halo;
      context.lineWidth = 3;
      context.lineJoin = "round";
      context.setLineDash([]);
      context.strokeText(text, x, y);
    }
    context.fillStyle = style.colour;
    context.fillText(text, x, y);
  }

  within(x: number, y: number, width: number, height: number, draw: () => void) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    this.context.translate(x, y);
    draw();
    this.context.restore();
  }
}
