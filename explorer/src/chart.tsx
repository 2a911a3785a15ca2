// Curves over time, by uPlot, with marked moments and the present.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Palette } from "./colour.ts";
import { useView } from "./hooks.ts";
import type { Page } from "./page.ts";
import { tick, time, whole } from "./words.ts";

interface Props {
  page: Page;
  times: number[];
  end: number;
  series: [string, number[]][];
  marks: [string, number][];
}

const HEIGHT = 220;

export function Chart({ page, times, end, series, marks }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const { theme } = useView(page.store);
  const { palette } = page;
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const colours = [palette.transfer, palette.critical, palette.reduce];
    const axis = { stroke: palette.soft, grid: { stroke: palette.line, width: 1 } };
    const made = new uPlot({
      width: Math.max(200, element.clientWidth),
      height: HEIGHT,
      scales: { x: { time: false, range: [0, end] } },
      cursor: { drag: { x: false, y: false } },
      axes: [
        {
          ...axis,
          values: (_, at) => at.map((t) => tick(t, at[1] - at[0] || end, end)),
          space: 80, size: 30, ticks: { show: false },
        },
        {
          ...axis,
          values: (_, at) => at.map(whole),
          size: (_, words) => 16 + 7.5 * Math.max(2, ...(words ?? []).map((w) => w.length)),
          ticks: { show: false },
        },
      ],
      series: [
        { label: "time", value: (_, t) => (t === null ? "-" : time(t)) },
        ...series.map(([label], i) => ({
          label, stroke: colours[i], width: 1.5, points: { show: false },
          value: (_: uPlot, n: number | null) => (n === null ? "-" : whole(n)),
        })),
      ],
      hooks: { draw: [(chart) => drawMarks(chart, page, marks, palette)] },
    }, [times, ...series.map(([, values]) => values)], element);
    plot.current = made;
    const size = new ResizeObserver(() => {
      made.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT });
    });
    size.observe(element);
    return () => {
      size.disconnect();
      made.destroy();
    };
  }, [times, theme, palette]);
  const { moment } = useView(page.store);
  useEffect(() => plot.current?.redraw(false), [moment]);
  return <div class="chart" ref={box} />;
}

function drawMarks(chart: uPlot, page: Page, marks: [string, number][], palette: Palette) {
  const { ctx: context, bbox } = chart;
  const ratio = devicePixelRatio;
  context.save();
  context.font = `${10 * ratio}px sans-serif`;
  context.lineWidth = 1.4 * ratio;
  const lines: [string, number][] = [...marks, ["", page.store.view.moment]];
  for (const [words, t] of lines) {
    const x = chart.valToPos(t, "x", true);
    const colour = words === "" ? palette.accent : words === "bound" ? palette.cut : palette.soft;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.setLineDash(words === "" ? [] : [4 * ratio, 3 * ratio]);
    context.beginPath();
    context.moveTo(x, bbox.top);
    context.lineTo(x, bbox.top + bbox.height);
    context.stroke();
    context.textAlign = "right";
    const down = words === "bound" ? 0.5 : 0.7;
    context.fillText(words, x - 4 * ratio, bbox.top + down * bbox.height);
  }
  context.restore();
}
