// The page: header, views, keys, the theme, and news while a run goes on.

import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Comparison, type Data, kept, type Words } from "./data";
import { Baselines } from "./baselines";
import { causes, Differences, Failures } from "./cards";
import { Overview, Trail } from "./grid";
import { reportMarkdown } from "./markdown";
import { liveAddress, Model, rank } from "./model";
import { canOverlay, PairView } from "./pair";
import { type Frames, neighbour, Panel } from "./panel";
import { Pivot } from "./pivot";
import { ask, close, columns, focusCell, follow, go, isOver, redraw, set, setModel, start, state, stepsOf } from "./store";
import { Copy, Facts, Sign } from "./ui";
import { Film, Timeline, Times, Wall } from "./walls";

// ---- The theme: the system's unless chosen ----
const THEMES = ["system", "light", "dark"];
const recall = () => { try { return localStorage.getItem("packtrain-theme") ?? ""; } catch { return ""; } };
let theme = THEMES.includes(recall()) ? recall() : "system";
function dress(name: string) {
  theme = name;
  document.documentElement.style.colorScheme = name === "system" ? "" : name;
  try { localStorage.setItem("packtrain-theme", name); } catch { /* a page opened from a file may not be allowed to */ }
}

function Header() {
  const { model, query } = state;
  const { head } = model.data;
  return <header class="top">
    <div class={`verdict m-${head.headline_mark.key}`}><span class="sign" aria-hidden="true">{head.headline_mark.sign}</span><div>
      <h1>{head.headline}</h1>
      <Facts of={head.facts} />
    </div></div>
    <div class="tools">
      {head.counts.length > 1 && <ul class="counts" aria-label="Count by outcome">{head.counts.map((c) => { const filter = `is:${c.mark.key}`; return <li><button type="button" class={`count m-${c.mark.key}`} title={`Show only: ${c.mark.word}`} aria-pressed={query.text === filter} onClick={() => ask(query.text === filter ? "" : filter)}><Sign mark={c.mark.key} /> <b>{c.count}</b> {c.word}</button></li>; })}</ul>}
      <label class="search"><span class="unseen">Query: devices, cells, steps and texts of screens</span><input id="query" type="search" value={state.typed} placeholder={model.comparison.axes?.length ? 'locale=de width<400 step:7 !pass "text"' : "failed, pixel, -web, step:7 …"} autocomplete="off" spellcheck={false} onInput={(e) => later(e.currentTarget.value)} /></label>
      <Copy text={reportMarkdown} label="copy as Markdown" />
      <button type="button" class="plain" onClick={() => print()}>print</button>
      <button type="button" class="plain" title="Light, dark, or as the system has it" onClick={() => { dress(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system"); redraw(); }}><span class="unseen">Theme: </span><span aria-hidden="true">◐ </span>{theme}</button>
      <button type="button" class="plain" aria-label="Keys and queries" onClick={() => set({ help: true })}>?</button>
    </div>
    {head.notes.map((note) => <p class="note">{note}</p>)}
    <p class="unseen" role="status">{state.said}</p>
  </header>;
}
let soon: ReturnType<typeof setTimeout> | undefined;
const later = (text: string) => { state.typed = text; clearTimeout(soon); soon = setTimeout(() => ask(text), 120); };

const KEYS: [string, string][] = [
  ["j k ↓ ↑", "next and previous step"], ["l h → ←", "next and previous cell"], ["Enter", "open"], ["n p", "next and previous cause"],
  ["r", "compare with the reference"], ["b", "blink between the two pictures"], ["/", "query"], ["?", "this help"], ["Esc", "close; so does Back"],
];
const QUERIES: [string, string][] = [
  ["locale=de width<400", "cells by axis or fact; != < <= > >= work too"], ["step:7 !pass", "what did not pass step 7"], ["is:failed cause:A", "by outcome and by cause"],
  ['"text"', "screens, devices and messages that hold it"], ["pixel -web", "by name, and not"],
];
function Dialog({ label, onClose, children, id }: { label: string; onClose: () => void; children: preact.ComponentChildren; id: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => { if (dialog.current && !dialog.current.open) dialog.current.showModal(); }, []);
  return <dialog id={id} ref={dialog} aria-label={label} onClose={onClose} onClick={(e) => { if (e.target === dialog.current) dialog.current?.close(); }}>{children}</dialog>;
}
const Help = () => <Dialog id="help" label="Keys and queries" onClose={() => set({ help: false })}>
  <h2>Keys</h2><dl>{KEYS.map(([keys, what]) => <><dt>{keys.split(" ").map((k) => <kbd>{k}</kbd>)}</dt><dd>{what}</dd></>)}</dl>
  <h2>Queries</h2><dl>{QUERIES.map(([query, what]) => <><dt><code>{query}</code></dt><dd>{what}</dd></>)}</dl>
  <form method="dialog"><button class="plain">close</button></form>
</Dialog>;

let closeup: Frames | null = null;
const enlarge = (frames: Frames | null) => { closeup = frames; redraw(); };
function Closeup({ frames: { frames, at } }: { frames: Frames }) {
  const shown = frames[at];
  const turn = (event: KeyboardEvent) => {
    const to = at + (event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0);
    if (to === at) return;
    event.preventDefault();
    event.stopPropagation();
    if (frames[to]) enlarge({ frames, at: to });
  };
  return <Dialog id="closeup" label="Screenshot" onClose={() => enlarge(null)}><div tabIndex={0} role="group" aria-label="Screenshot" onKeyDown={turn}>
    {shown && <img src={shown.src} alt={shown.caption} />}<p>{shown?.caption}{frames.length > 1 && ` · ${at + 1} of ${frames.length}, ← →`}</p>
  </div></Dialog>;
}

function App() {
  const { model, route } = state;
  const { data } = model;
  const over = isOver(route);
  const worst = (trail: number) => Math.min(...data.sessions.filter((s) => s.trail === trail).map((s) => rank(s.mark)), 99);
  const order = data.trails.map((_, at) => at).sort((a, b) => worst(a) - worst(b));
  // What passed opens with the grid: there is nothing to look at before it.
  const isGreen = data.sessions.every((s) => ["passed", "flaky", "skipped"].includes(s.mark));
  const trails = order.map((trail) => <Trail key={trail} trail={trail} />);
  const only = trails.length === 1 ? trails[0] : null;
  document.body.classList.toggle("open", route.name === "step");
  return <>
    <div hidden={over}>
      <Header />
      <main>
        <Failures />
        {isGreen && <>{only ?? <Overview />}<Differences /><Pivot /></>}
        {!isGreen && <><Differences /><Pivot /><Overview />{only}</>}
        {!only && trails}
        <Baselines />
        {data.sessions.length > 0 && state.shown.size === 0 && <p class="note" role="status">Nothing matches the query.</p>}
      </main>
      <footer>
        <p class="legend">{Object.entries(data.marks).map(([key, mark]) => <span class={`m-${key}`}><i aria-hidden="true">{mark.sign}</i> {mark.word}</span>)}<span><i aria-hidden="true">-</i> nothing to do</span><span><b class="l">A</b> cause</span><span><u>!</u> errors on the device</span></p>
        <Times />
        <p>{data.head.run} · packtrain {data.head.packtrain}</p>
      </footer>
    </div>
    {over && <main class="stage">
      <p class="bar"><button type="button" onClick={close}>← back</button></p>
      {route.name === "pair" && <PairView key={route.place.key} place={route.place} against={route.against} />}
      {route.name === "wall" && <Wall trail={route.trail} step={route.step} />}
      {route.name === "film" && <Film place={route.place} />}
      {route.name === "time" && <Timeline />}
    </main>}
    {route.name === "step" && <Panel key={route.place.key} place={route.place} enlarge={enlarge} />}
    {state.help && <Help />}
    {closeup && <Closeup frames={closeup} />}
  </>;
}

// ---- Keys ----
function move(down: number, right: number) {
  const { route, model } = state;
  if (route.name === "step") { const next = neighbour(route.place, down, right); if (next) go(`#${next}`); return; }
  if (route.name === "pair" && route.place.step) {
    const next = neighbour(route.place, down, right);
    const place = next && model.place(next);
    if (place && place.step) go(`#pair/${place.key}/${down ? route.against : (model.nearest(place.session, place.step.i)?.id ?? route.against)}`);
    return;
  }
  if (route.name === "wall") {
    const steps = model.data.trails[route.trail]?.steps ?? [];
    const next = steps[steps.findIndex((s) => s.i === route.step) + (down || right)];
    if (next) go(`#wall/${route.trail}/${next.i}`);
    return;
  }
  if (route.name === "film") { const next = neighbour({ ...route.place, step: undefined }, 0, right || down); if (next) go(`#film/${next}`); return; }
  if (route.name !== "home") return;
  const focused = document.activeElement?.closest?.(".trail .grid a") ? model.place(document.activeElement.getAttribute("href")?.slice(1) ?? "") : null;
  const next = focused ? neighbour(focused, down, right) : firstCell();
  if (!next) return;
  state.cursor = next;
  redraw();
  focusCell(next);
}
function firstCell(): string {
  for (const [trail] of state.model.data.trails.entries()) {
    const [column, step] = [columns(trail)[0], stepsOf(trail)[0]];
    if (column && step) return state.model.keyOf(column.head, step.i);
  }
  return "";
}
/** The first step of each cause, in the order of the page. */
function firsts(): string[] {
  const { model } = state;
  const { failures, flaky, differences, unexplained } = causes();
  const told = (clusters: typeof failures) => clusters.flatMap((c) => {
    const first = c.occurrences.find((o) => { const s = model.byPlace(o.session); return s && state.shown.has(s.id); });
    return first ? [model.keyAt(first)] : [];
  });
  const untested = model.data.trails.flatMap((t) => t.problems.filter((p) => !p.letter && p.sessions.split(" ").some((id) => state.shown.has(id))).map((p) => p.href));
  return [...new Set([...told(failures), ...untested, ...told([...flaky, ...differences, ...unexplained])])];
}
function cause(by: number) {
  const keys = firsts();
  if (!keys.length) return;
  const { route } = state;
  const at = route.name === "step" || route.name === "pair" ? keys.indexOf(route.place.key) : -1;
  go(`#${keys[(at + (by > 0 ? 1 : at < 0 ? 0 : -1) + keys.length) % keys.length]}`);
}
function compareWithReference() {
  const { route, model } = state;
  if ((route.name !== "step" && route.name !== "pair") || !route.place.step) return;
  const { session, key, step } = route.place;
  const [nearest, reference] = [model.nearest(session, step.i), model.referenceOf(session)];
  const against = route.name === "pair" && reference && route.against !== reference.id ? reference : nearest ?? reference;
  if (against) go(`#pair/${key}/${against.id}`);
}
function blink() {
  const { route } = state;
  if (route.name === "step") { compareWithReference(); if (state.route.name === "pair" && canOverlay(state.route.place, state.route.against)) set({ mode: "blink" }); return; }
  if (route.name === "pair" && canOverlay(route.place, route.against)) set({ mode: state.mode === "blink" ? "side" : "blink" });
}
const PRESSED: Record<string, () => void> = {
  j: () => move(1, 0), ArrowDown: () => move(1, 0), k: () => move(-1, 0), ArrowUp: () => move(-1, 0),
  l: () => move(0, 1), ArrowRight: () => move(0, 1), h: () => move(0, -1), ArrowLeft: () => move(0, -1),
  n: () => cause(1), p: () => cause(-1), r: compareWithReference, b: blink, "?": () => set({ help: true }), Escape: close,
  "/": () => { if (isOver(state.route)) close(); document.getElementById("query")?.focus(); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target as HTMLElement;
  if (target.id === "query") {
    if (event.key === "Escape") { ask(""); target.blur(); event.preventDefault(); }
    return;
  }
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && event.key !== "Escape") return;
  // Arrows scroll unless something is chosen.
  const inGrid = target.closest(".trail .grid") !== null;
  if (event.key.startsWith("Arrow") && !inGrid && !(state.route.name === "step" && target === document.body)) return;
  const press = PRESSED[event.key];
  if (!press) return;
  press();
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest?.('a[href^="#"]');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute("href") ?? "#");
});

// ---- News of a run that goes on ----
interface Update { data: Data; comparison: Comparison; texts?: string[]; words?: Words }
function update({ data, comparison, texts, words }: Update) {
  const model = new Model(data, comparison, texts, words);
  model.adopt(state.model);
  setModel(model);
  document.title = `${data.head.headline_mark.sign} ${data.head.headline} · ${data.head.run}`;
  state.said = data.head.headline;
  follow();
}
function listen(address: string) {
  const events = new EventSource(address);
  const over = new AbortController();
  let asking = false;
  let again = false;
  const ask = async () => {
    if (asking) { again = true; return; }
    asking = true;
    do {
      again = false;
      try {
        const news = await (await fetch("data.json", { signal: over.signal })).json() as Update;
        if (!over.signal.aborted) update(news);
      } catch { /* the next message tries again */ }
    } while (again && !over.signal.aborted);
    asking = false;
  };
  events.onmessage = () => void ask();
  // What was asked for before is older than this, and nobody is there to ask any more.
  events.addEventListener("end", (event) => { events.close(); over.abort(); update(JSON.parse((event as MessageEvent<string>).data) as Update); });
}

setModel(new Model(JSON.parse(kept("data") ?? "null") as Data, JSON.parse(kept("comparison") ?? "null") as Comparison));
dress(theme);
document.getElementById("static")?.remove();
start(() => render(<App />, document.getElementById("app") as HTMLElement));
const live = liveAddress();
if (live) listen(live);
Object.assign(window, { packtrain: { update } });
