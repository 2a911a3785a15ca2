// Iterations of training: what each NPU does when, how much of it is computing, and which
// communication nothing hides. Two may be seen beneath each other on one scale.

import { useMemo } from "preact/hooks";
import { Choose } from "../controls.tsx";
import { type Chart, rowAt, spanAt } from "../lanes.ts";
import type { Page } from "../page.ts";
import { numbers, Table, texts } from "../table.tsx";
import { TimeButtons, TimePane } from "../timepane.tsx";
import { share, shown, time } from "../words.ts";
import type { Choices } from "./choices.ts";
import type { Strip } from "./spans.ts";
import { rowsOfStrip, spansOf, stripChart } from "./strip.ts";

interface Props {
  page: Page;
  strips: Strip[];
  choices: Choices;
}

export function Training({ page, strips, choices }: Props) {
  const titles = strips.map(({ title }, i): [number, string] => [i, title]);
  return (
    <div class="training">
      <div class="bar">
        {strips.length > 1 && (
          <>
            <Choose
              title="timeline" value={choices.strip} options={titles}
              onChange={(strip) => page.choose({ strip })}
            />
            <Choose
              title="beside it" value={choices.beside} options={[[-1, "nothing"], ...titles]}
              onChange={(beside) => page.choose({ beside })}
            />
          </>
        )}
        <TimeButtons page={page} />
        <span class="soft">
          Hatched is communication while the NPU computes nothing. W/S zoom, A/D pan, F fits.
        </span>
      </div>
      {page.strips.map((strip, i) => <StripPane key={i} page={page} strip={strip} keep={i === 0} />)}
      <div class="tables">
        {page.strips.map((strip, i) => <Uses key={i} page={page} strip={strip} />)}
      </div>
    </div>
  );
}

interface PaneProps {
  page: Page;
  strip: Strip;
  /** Whether the page's picture is of this one. */
  keep: boolean;
}

function StripPane({ page, strip, keep }: PaneProps) {
  const rows = useMemo(() => rowsOfStrip(strip), [strip]);
  const tell = (chart: Chart, x: number, y: number, width: number) => {
    const found = rowAt(chart, x, y, width);
    const span = found === null || found.named ? -1
      : spanAt(spansOf(strip, found.lane), found.moment);
    return span < 0 ? "" : wordsOf(strip, span);
  };
  return (
    <TimePane
      page={page} title={strip.title} class="strip" rows={rows} tell={tell} fits
      label="Spans over time. The tables say how much each NPU does of what."
      chart={(scroll) => stripChart(page, strip, scroll, rows)}
      drawn={(draw, width, height) => {
        if (keep) page.picture = () => ({ title: strip.title, width, height, draw });
      }}
    >
      <b class="name">{strip.title}</b> {time(strip.length)}
    </TimePane>
  );
}

function wordsOf({ timeline, npus, kinds }: Strip, span: number): string {
  const { start, duration, npu, kind, name, names } = timeline;
  return `${npus[npu[span]]}, ${kinds[kind[span]]}: ${shown(names[name[span]], 60)}, `
    + `${time(start[span])} to ${time(start[span] + duration[span])}`;
}

/** What each NPU does, in shares of the iteration, and what is exposed for the longest. */
function Uses({ page, strip }: Omit<PaneProps, "keep">) {
  return useMemo(() => {
    const { uses, npus, kinds, longest, length, timeline } = strip;
    const { start, duration, npu, kind, name, names } = timeline;
    const part = (title: string, of: (i: number) => number) =>
      numbers(title, of, (x) => share(x / length));
    const of = (i: number) => longest[i].span;
    const zoom = (span: number) => {
      const from = Math.max(0, start[span] - duration[span] / 2);
      page.setRange(from, Math.min(length, start[span] + 1.5 * duration[span] + 10) - from);
    };
    const some = kinds.map((_, k) => k)
      .filter((k) => k > 0 && uses.some(({ exposed }) => exposed[k] > 0));
    return (
      <div>
        <Table
          caption={`${strip.title}: shares of ${time(length)}`} rows={[...uses.keys()]}
          columns={[
            texts("NPU", (i) => npus[i]),
            part("computing", (i) => uses[i].computing),
            part("communicating", (i) => uses[i].communicating),
            ...some.map((k) => part(`exposed ${kinds[k]}`, (i) => uses[i].exposed[k])),
            part("idle", (i) => uses[i].idle),
          ]}
        />
        {longest.length > 0 && (
          <Table
            caption="Exposed for the longest" rows={[...longest.keys()]}
            pick={(i) => zoom(of(i))}
            columns={[
              texts("span", (i) => shown(names[name[of(i)]], 60)),
              texts("NPU", (i) => npus[npu[of(i)]]),
              texts("kind", (i) => kinds[kind[of(i)]]),
              numbers("from", (i) => start[of(i)], time),
              numbers("exposed", (i) => longest[i].exposed, time),
            ]}
          />
        )}
      </div>
    );
  }, [page, strip]);
}
