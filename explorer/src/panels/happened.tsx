// What happened on the way of a run, by time: a list whose lines seek.

import { useView } from "../hooks.ts";
import type { Page } from "../page.ts";
import type { Loaded } from "../run.ts";
import { time, whole } from "../words.ts";

const MOST = 200;

export function Happened({ page, loaded }: { page: Page; loaded: Loaded }) {
  const { moment } = useView(page.store);
  const { moments } = loaded.run;
  if (moments.length === 0) return <></>;
  return (
    <>
      <h3>What happened</h3>
      <ol class="steps">
        {moments.slice(0, MOST).map(({ at_ps: at, words }, i) => (
          <li key={i} class={at <= moment ? "" : "soft"}>
            <button class="plain" onClick={() => page.seek(at)}>
              {time(at)}: <span class="name">{words.slice(0, 300)}</span>
            </button>
          </li>
        ))}
      </ol>
      {moments.length > MOST && <p class="soft">{whole(MOST)} of {whole(moments.length)}.</p>}
    </>
  );
}
