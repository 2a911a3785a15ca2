// Saves the view as a picture, PNG or SVG: the networks, the slider and the Gantt, or the chart of
// the results, drawn anew by the same code with the pen of the file.

import { ganttOf, rowsOf } from "./ganttpane.tsx";
import { drawRows } from "./lanes.ts";
import { drawNetwork, sceneOf } from "./network.ts";
import type { Page, Picture } from "./page.ts";
import { CanvasPen, type Pen } from "./pen.ts";
import { SvgPen } from "./svg.ts";
import { drawTraffic } from "./timeline.tsx";
import { shown, time } from "./words.ts";

const WIDTH = 1200;
const [TITLE, NETWORK, SLIDER, GANTT] = [34, 620, 70, 220];
const HEIGHT = TITLE + NETWORK + SLIDER + GANTT;

export function drawView(pen: Pen, page: Page) {
  const { current, other, palette, timed } = page;
  const { moment, gantt, selection } = page.store.view;
  const tall = timed ? NETWORK : HEIGHT - TITLE;
  pen.block(0, 0, WIDTH, HEIGHT, palette.back);
  [current, other].filter((loaded) => loaded !== null).forEach((loaded, i, { length }) => {
    const width = WIDTH / length;
    const label = shown(loaded.run.label, Math.floor(width / 10));
    const title = timed ? `${label} at ${time(moment)}` : label;
    pen.words(title, i * width + 12, 22, { size: 14, colour: palette.text, bold: true });
    pen.within(i * width, TITLE, width, tall, () =>
      drawNetwork(pen, sceneOf(page, loaded, null, width, tall), width, tall));
  });
  if (!timed) return;
  pen.within(0, TITLE + NETWORK, WIDTH, SLIDER, () => drawTraffic(pen, page, WIDTH, SLIDER));
  pen.within(0, TITLE + NETWORK + SLIDER, WIDTH, GANTT, () =>
    drawRows(pen, ganttOf(page, 0, rowsOf(current, gantt, selection)), WIDTH, GANTT));
}

/** What is to be saved: of results their chart, beneath its title. */
function pictureOf(page: Page): Picture {
  if (!page.seesResults) {
    return { title: "", width: WIDTH, height: HEIGHT, draw: (pen) => drawView(pen, page) };
  }
  const nothing: Picture = { title: "", width: WIDTH, height: 0, draw: () => {} };
  const { title, width, height, draw } = page.picture?.() ?? nothing;
  const { palette: { back, text: colour } } = page;
  return {
    title, width, height: TITLE + height,
    draw(pen) {
      pen.block(0, 0, width, TITLE + height, back);
      pen.words(shown(title, Math.floor(width / 10)), 12, 22, { size: 14, colour, bold: true });
      pen.within(0, TITLE, width, height, () => draw(pen, width, height));
    },
  };
}

export function saveSvg(page: Page) {
  const { width, height, draw } = pictureOf(page);
  const pen = new SvgPen(width, height);
  draw(pen, width, height);
  save(new Blob([pen.file()], { type: "image/svg+xml" }), "tutti.svg");
}

export function savePng(page: Page) {
  const canvas = document.createElement("canvas");
  const { width, height, draw } = pictureOf(page);
  canvas.width = 2 * width;
  canvas.height = 2 * height;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.scale(2, 2);
  draw(new CanvasPen(context), width, height);
  canvas.toBlob((blob) => blob !== null && save(blob, "tutti.png"), "image/png");
}

function save(blob: Blob, name: string) {
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(blob);
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}
