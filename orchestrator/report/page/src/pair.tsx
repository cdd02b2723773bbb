// Two screens of one step: as pictures over or beside each other, and as trees line by line.

import { useEffect, useState } from "preact/hooks";
import type { Box, Difference, Item, Session, Step, Visual } from "./data";
import type { Frame, Place } from "./model";
import { go, type Mode, redraw, set, state } from "./store";
import { align, folded, type Row, words } from "./tree";
import { Copy, count, type Mark, Part, Picture, Sign } from "./ui";
import { pairMarkdown } from "./markdown";

const MODES: [Mode, string][] = [["side", "side by side"], ["slider", "slider"], ["onion", "onion skin"], ["blink", "blink"]];
const LINES_AROUND = 2;

interface Both { session: Session; against: Session; step: Step; other: Step; difference?: Difference; visual?: Visual }
export function both(place: Place, against: string): Both | null {
  const { model } = state;
  const other = model.sessions.get(against);
  const step = place.step;
  const there = step && model.at(other, model.stepThere(place.session.id, step.i, against));
  if (!step || !other || !there || other === place.session) return null;
  return { session: place.session, against: other, step, other: there, difference: model.difference(place.session.id, step.i, against), visual: model.visual(place.session.id, step.i, against) };
}

const scaled = (at: Box, scale: number): Box => [at[0] * scale, at[1] * scale, at[2] * scale, at[3] * scale];
/** What is drawn over the pictures: of this screen and of the other. */
export function marksOf(pair: Both): { here: Mark[]; there: Mark[] } {
  const [here, there]: [Mark[], Mark[]] = [[], []];
  for (const box of pair.visual?.boxes ?? []) {
    const mark = { at: box.at, kind: box.kind ?? "changed", label: `${box.kind ?? "changed"}${box.element ? `: ${box.element}` : ""}` };
    if (box.kind !== "removed") here.push(mark);
    if (box.kind !== "added") there.push(mark);
  }
  for (const item of pair.difference?.items ?? []) {
    if (!item.at || item.expected_by) continue;
    const missing = item.kind === "missing";
    const scale = (missing ? pair.other : pair.step).seen?.scale ?? 1;
    (missing ? there : here).push({ at: scaled(item.at, scale), kind: missing ? "removed" : item.kind === "added" ? "added" : "changed", label: itemWords(item) });
  }
  return { here, there };
}
const KINDS: Record<string, string> = {
  missing: "is missing", added: "is only here", name: "is renamed", value: "has another value", state: "has another state", order: "is in another place",
  out_of_view: "is out of view", into_view: "is in view only here", untranslated: "is not translated", raw_key: "shows a raw key", matches: "has another number of matches",
};
export const itemWords = (item: Item) => `${item.role ?? ""}${item.name ? ` "${item.name}"` : ""} ${KINDS[item.kind] ?? item.kind}${item.was !== undefined && item.is !== undefined ? `: "${item.was}" → "${item.is}"` : ""}`.trim();
const shift = (visual: Visual) => {
  const [x, y] = visual.shift ?? [0, 0];
  return [y ? `${Math.abs(y)} px ${y > 0 ? "down" : "up"}` : "", x ? `${Math.abs(x)} px to the ${x > 0 ? "right" : "left"}` : ""].filter(Boolean).join(" and ");
};
export function visualWords(visual: Visual): string {
  if (visual.kind === "shifted") return `The content moved ${shift(visual)}.`;
  if (visual.kind === "size") return "The pictures have different sizes.";
  if (visual.kind === "failed") return "The pictures could not be compared.";
  const boxes = visual.boxes ?? [];
  const named = boxes.map((b) => b.element).filter(Boolean);
  return `${count(visual.pixels ?? 0, "pixel")} in ${count(boxes.length, "box", "boxes")}${named.length ? `: ${named.join(", ")}` : ""}`;
}

/** Which step the other picture is of, when it is another one. */
const stepOf = (pair: Both) => pair.other.i === pair.step.i ? "" : pair.other.i === 0 ? "at the trailhead" : `at step ${pair.other.i}`;

function Pictures({ pair, mode }: { pair: Both; mode: Mode }) {
  const [split, setSplit] = useState(50);
  const [flip, setFlip] = useState(false);
  useEffect(() => {
    if (mode !== "blink") return undefined;
    const timer = setInterval(() => setFlip((on) => !on), 600);
    return () => clearInterval(timer);
  }, [mode]);
  const { model } = state;
  const [here, there] = [model.frame(pair.step), model.frame(pair.other)];
  if (!here && !there) return <p class="quiet">Neither step has a picture.</p>;
  const marks = state.boxes ? marksOf(pair) : { here: [], there: [] };
  const [name, other] = [state.model.name(pair.session), state.model.name(pair.against)];
  const one = (frame: Frame | null, step: Step, label: string, which: string, drawn: Mark[]) => <figure>
    <figcaption class={`m-${step.mark}`}><span><Sign mark={step.mark} /> <b>{label}</b></span>{which && <> <span>{which}</span></>}</figcaption>
    {frame ? <Picture frame={frame} alt={label} marks={drawn} /> : <span class="none">no picture</span>}
  </figure>;
  if (mode === "side" || !here || !there) return <div class="sides">{one(there, pair.other, other, stepOf(pair), marks.there)}{one(here, pair.step, name, "", marks.here)}</div>;
  const top: Record<string, string> = mode === "slider" ? { clipPath: `inset(0 0 0 ${split}%)` } : mode === "onion" ? { opacity: String(split / 100) } : { visibility: flip ? "visible" : "hidden" };
  return <div class="over">
    <p class="quiet">{mode === "blink" ? <>Now: <b>{flip ? "this" : "compared with"}</b> {flip ? name : other}</> : mode === "slider" ? `Left: ${other}. Right: ${name}.` : `0 %: ${other}. 100 %: ${name}.`}</p>
    {mode !== "blink" && <input type="range" min="0" max="100" value={split} aria-label={mode === "slider" ? "Where the pictures meet" : "How much of this picture shows"} onInput={(e) => setSplit(Number(e.currentTarget.value))} />}
    <div class="stack"><Picture frame={there} alt={`compared with: ${other}`} marks={mode === "blink" ? marks.there : undefined} /><Picture frame={here} alt={`this: ${name}`} marks={marks.here} style={top} /></div>
  </div>;
}

function TreeRows({ pair, around }: { pair: Both; around: number }) {
  const { model } = state;
  const [here, there] = [model.tree(pair.step.seen?.tree, redraw), model.tree(pair.other.seen?.tree, redraw)];
  if (pair.step.seen?.tree && pair.step.seen.tree === pair.other.seen?.tree) return <p class="quiet">Both screens have the same elements and texts.</p>;
  if (!here || !there) return pair.difference ? null : <p class="quiet">The trees of these two screens are not in this file.</p>;
  const rows = align(there, here);
  const expected = (row: Row) => pair.difference?.items.find((item) => item.expected_by && [row.left, row.right].some((node) => node && node.r === item.role && [item.name, item.was, item.is].includes(node.n)))?.expected_by;
  const changed = rows.filter((row) => row.kind !== "same").length;
  if (!changed) return <p class="quiet">Both screens have the same elements and texts.</p>;
  const line = (node: Row["left"]) => node ? <span style={{ paddingLeft: `${Math.min(node.d, 12) * 0.9}em` }}>{words(node)}</span> : <span class="quiet">–</span>;
  const SIGNS = { same: "", changed: "≠", removed: "−", added: "+" };
  return <>
    <table class="trees">
      <caption>{count(changed, "line differs", "lines differ")} <button type="button" class="plain" aria-pressed={state.whole} onClick={() => set({ whole: !state.whole })}>show all {rows.length}</button></caption>
      <thead><tr><th scope="col"><span class="unseen">what</span></th><th scope="col">{state.model.name(pair.against)}</th><th scope="col">{state.model.name(pair.session)}</th></tr></thead>
      <tbody>{folded(rows, state.whole ? rows.length : around).map((row) => {
        if (typeof row === "number") return <tr class="gap"><td /><td colSpan={2}>{count(row, "equal line")}</td></tr>;
        const by = row.kind === "same" ? undefined : expected(row);
        return <tr class={`r-${row.kind}${by ? " expected" : ""}`}><td title={by ? `expected with another ${by}` : row.kind}>{SIGNS[row.kind]}</td><td>{line(row.left)}</td><td>{line(row.right)}{by && <small> expected: {by}</small>}</td></tr>;
      })}</tbody>
    </table>
  </>;
}

function Items({ pair }: { pair: Both }) {
  const items = pair.difference?.items ?? [];
  const [told, expected] = [items.filter((i) => !i.expected_by), items.filter((i) => i.expected_by)];
  if (!items.length && !pair.visual) return null;
  return <ul class="items">
    {pair.visual && <li class="b-changed">{visualWords(pair.visual)}</li>}
    {told.map((item) => <li class={item.kind === "missing" ? "b-removed" : item.kind === "added" ? "b-added" : "b-changed"}>{itemWords(item)}</li>)}
    {expected.length > 0 && <li class="quiet">{count(expected.length, "difference is", "differences are")} expected: {[...new Set(expected.map((i) => i.expected_by))].join(", ")}</li>}
  </ul>;
}

/** The difference of a step from its nearest pass, as it stands in the details of a step. */
export function Differs({ place, against }: { place: Place; against: Session }) {
  const pair = both(place, against.id);
  if (!pair || (!state.model.frame(pair.step) && !pair.difference)) return null;
  return <Part title="Difference" tools={<span class="tabs"><a href={`#pair/${place.key}/${against.id}`}>Compare</a></span>}>
    <p class="quiet">Compared with {state.model.name(against)}{state.model.nearest(place.session, pair.step.i) === against ? ", the nearest that passed this step" : ""}.</p>
    <Items pair={pair} /><Pictures pair={pair} mode="side" /><TreeRows pair={pair} around={LINES_AROUND} />
  </Part>;
}

/** Why pictures cannot lie over each other. */
function obstacle(pair: Both): string {
  const { model } = state;
  const [a, b] = [model.frame(pair.step), model.frame(pair.other)];
  if (!a || !b) return "One of the two steps has no picture.";
  return a.width === b.width && a.height === b.height ? "" : `The pictures have different sizes: ${a.width}×${a.height} and ${b.width}×${b.height}.`;
}
export const canOverlay = (place: Place, against: string) => { const pair = both(place, against); return pair !== null && !obstacle(pair); };

export function PairView({ place, against }: { place: Place; against: string }) {
  const { model } = state;
  const step = place.step;
  const others = model.data.sessions.filter((s) => s.trail === place.session.trail && s !== place.session && step && model.at(s, step.i)?.mark !== "not_run");
  const pair = both(place, against);
  const text = model.stepText(place.session.trail, step?.i ?? 0);
  const why = pair ? obstacle(pair) : "";
  const mode = why ? "side" : state.mode;
  return <>
    <h1 tabIndex={-1}>{text.label} {text.text}</h1>
    <p class="choice"><b>{state.model.name(place.session)}</b> <label>compared with <select value={against} onChange={(e) => go(`#pair/${place.key}/${e.currentTarget.value}`)}>
      {!others.some((s) => s.id === against) && <option value={against}>choose one</option>}
      {others.map((s) => <option value={s.id}>{state.model.name(s)}{step && model.nearest(place.session, step.i) === s ? " (nearest that passed)" : ""}{model.referenceOf(place.session) === s ? " (reference)" : ""}</option>)}
    </select></label> <a href={`#${place.key}`}>the step's details</a></p>
    {pair ? <>
      <div class="modes" role="group" aria-label="How the pictures are compared">
        {MODES.map(([key, label]) => <button type="button" aria-pressed={mode === key} disabled={key !== "side" && why !== ""} title={key !== "side" && why ? why : undefined} onClick={() => set({ mode: key })}>{label}</button>)}
        <button type="button" aria-pressed={state.boxes} onClick={() => set({ boxes: !state.boxes })}>boxes</button>
        <Copy text={() => pairMarkdown(pair)} label="copy as Markdown" />
      </div>
      {why && <p class="quiet">{why} Slider, onion skin and blink need equal sizes.</p>}
      <Items pair={pair} />
      <Pictures pair={pair} mode={mode} />
      <TreeRows pair={pair} around={LINES_AROUND} />
    </> : <p>There is nothing to compare this step with.</p>}
  </>;
}
