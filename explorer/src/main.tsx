// The beginning: reads the page's data and shows them, or says in words why it can't.

import { render } from "preact";
import { App } from "./app.tsx";
import { Page } from "./page.ts";
import { readData } from "./run.ts";
import { shown } from "./words.ts";

const root = document.getElementById("app") as HTMLElement;

function say(words: string) {
  render(<p class="notice" role="alert">{words}</p>, root);
}

async function start() {
  const element = document.getElementById("tutti-data");
  if (element === null) {
    say("There is no data in this page. It is the template that Tutti writes results into.");
    return;
  }
  say("Reading the data ...");
  try {
    const data = readData(element.textContent ?? "");
    element.remove();
    document.title = shown(data.title, 80) || "Tutti";
    const page = await Page.open(data);
    render(<App page={page} />, root);
  } catch (error) {
    say(error instanceof Error ? error.message : "This page's data can't be shown.");
  }
}

start();
