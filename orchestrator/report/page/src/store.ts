// What the page shows at the moment: the run, the address, the query. One place, one redraw.

import { type Session } from "./data";
import { Model, type Place, rank } from "./model";
import { matches, parse, type Query } from "./query";

export type Mode = "side" | "slider" | "onion" | "blink";
export type Route =
  | { name: "home"; focus?: string }
  | { name: "step"; place: Place }
  | { name: "pair"; place: Place; against: string }
  | { name: "wall"; trail: number; step: number }
  | { name: "film"; place: Place }
  | { name: "time" };

export interface State {
  model: Model; query: Query; shown: Set<string>; route: Route; unfolded: Set<string>;
  pivot: { rows: string[]; columns: string[] } | null; mode: Mode; boxes: boolean; whole: boolean; help: boolean;
  strip: "devices" | "steps"; cursor: string; said: string;
  /** What stands in the query box, which may be ahead of the query. */
  typed: string;
}
export const state = { unfolded: new Set(), pivot: null, mode: "side", boxes: true, whole: false, help: false, strip: "devices", cursor: "", said: "" } as unknown as State;

let draw = () => {};
export const redraw = () => draw();
/** Changes what is shown, and shows it. */
export function set(change: Partial<State>) { Object.assign(state, change); draw(); }

export function setModel(model: Model) {
  state.model = model;
  setQuery(state.query?.text ?? "");
}
export function setQuery(text: string) {
  state.typed = text;
  state.query = parse(text);
  state.shown = new Set(state.model.data.sessions.filter((s) => matches(state.query, state.model, s)).map((s) => s.id));
}
/** The query as somebody types it: it is part of the address. */
export function ask(text: string) {
  setQuery(text);
  const [view] = location.hash.split("?");
  history.replaceState(history.state, "", address(view ?? ""));
  draw();
}

// ---- The address: `#s3-4`, `#pair/s3-4/s1`, `#wall/0/4`, `#film/s3`, `#time`, `#cause-A`, `#t0`, and behind it `?q=` ----
const address = (view: string) => {
  const shown = state.query.text ? `${view || "#"}?q=${encodeURIComponent(state.query.text)}` : view === "#" ? "" : view;
  return location.pathname + location.search + shown;
};
function read(hash: string): Route {
  const [name = "", a = "", b = ""] = hash.replace(/^#/, "").split("?")[0]?.split("/") ?? [];
  const { model } = state;
  const place = model.place(name === "pair" || name === "film" ? a : name);
  if (name === "pair" && place?.step) return { name, place, against: b || (model.nearest(place.session, place.step.i)?.id ?? "") };
  if (name === "film" && place) return { name, place };
  if (name === "wall" && model.data.trails[Number(a)]) return { name, trail: Number(a), step: Number(b) };
  if (name === "time") return { name };
  if (place) return { name: "step", place };
  return { name: "home", focus: name };
}
const depth = () => (history.state as { depth?: number } | null)?.depth ?? 0;
let scrolled = 0;
let opener = "";

export function start(render: () => void) {
  history.scrollRestoration = "manual";
  draw = render;
  follow();
  addEventListener("popstate", () => { follow(); });
}
/** Shows what the address names. */
export function follow() {
  const query = new URLSearchParams(location.hash.split("?")[1] ?? "").get("q");
  if (query !== null && query !== state.query.text) setQuery(query);
  show(read(location.hash));
}
function show(route: Route) {
  const before = state.route as Route | undefined;
  const [was, is] = [before && isOver(before), isOver(route)];
  if (!was && is) scrolled = scrollY;
  state.route = route;
  if (route.name === "step" || route.name === "pair") state.cursor = route.place.key;
  draw();
  if (is && before?.name !== route.name) { scrollTo(0, 0); document.querySelector<HTMLElement>(".stage h1")?.focus({ preventScroll: true }); }
  if (was && !is) scrollTo(0, scrolled);
  if (route.name === "step") focusCell(route.place.key);
  else if (route.name === "home" && route.focus) {
    const target = document.getElementById(route.focus);
    target?.scrollIntoView({ block: "start" });
    target?.focus({ preventScroll: true });
  } else if (route.name === "home" && before && before.name !== "home") {
    const link = opener && document.querySelector<HTMLElement>(`a[href="${CSS.escape(opener)}"]`);
    if (link) link.focus({ preventScroll: true }); else focusCell(state.cursor);
  }
}
/** Whether it takes the place of the overview. */
export const isOver = (route: Route) => route.name !== "home" && route.name !== "step";

/** Goes somewhere: from one view into another so that Back comes back, within one without traces. */
export function go(hash: string) {
  const route = read(hash);
  const same = route.name === state.route.name;
  if (!same && state.route.name === "home") opener = document.activeElement?.getAttribute("href") ?? "";
  if (same) history.replaceState(history.state, "", address(hash));
  else history.pushState({ depth: depth() + 1 }, "", address(hash));
  show(route);
}
/** Closes what is open. */
export function close() {
  if (state.route.name === "home") return;
  if (depth() > 0) { history.back(); return; }
  const over = state.route;
  const hash = over.name === "pair" ? `#${over.place.key}` : "#";
  history.replaceState(null, "", address(hash));
  show(read(hash));
}
export function focusCell(key: string) {
  const link = key ? document.querySelector<HTMLElement>(`.trail .grid a[href="#${CSS.escape(key)}"]`) : null;
  link?.focus({ preventScroll: true });
  link?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// ---- The columns of a trail's grid ----
export interface Column { id: string; head: Session; sessions: Session[]; letters: string[]; edge: boolean; folds: boolean }
const FOLD_FROM = 12;
const FOLD_AT_LEAST = 4;

/** Sessions of a trail that went alike: with the same causes and the same end. */
function groups(trail: number): Session[][] {
  const { model } = state;
  const alike = new Map<string, Session[]>();
  for (const session of (model.order[trail] ?? []).flatMap((place) => model.data.sessions[place] ?? [])) {
    const left = model.causesOf(session.id).filter((c) => !c.everywhere && (c.kind === "failure" || c.kind === "difference"));
    const key = `${rank(session.mark)} ${left.map((c) => c.letter).join() || "~"}`;
    alike.set(key, [...(alike.get(key) ?? []), session]);
  }
  return [...alike.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}
export const lettersOf = (session: Session) => state.model.causesOf(session.id).filter((c) => !c.everywhere).map((c) => c.letter);
export function columns(trail: number): Column[] {
  const shown = groups(trail).map((group) => group.filter((s) => state.shown.has(s.id))).filter((group) => group.length);
  const count = shown.reduce((sum, group) => sum + group.length, 0);
  return shown.flatMap((group, at) => {
    const [first] = group;
    if (!first) return [];
    const id = `${trail}:${first.id}`;
    const folds = count > FOLD_FROM && group.length >= FOLD_AT_LEAST;
    const reference = group.find((s) => state.model.referenceOf(s) === undefined) ?? first;
    if (folds && !state.unfolded.has(id)) return [{ id, head: reference, sessions: group, letters: [...new Set(group.flatMap(lettersOf))].sort(), edge: at > 0, folds }];
    return group.map((session, i): Column => ({ id, head: session, sessions: [session], letters: lettersOf(session), edge: at > 0 && i === 0, folds: folds && i === 0 }));
  });
}
/** The steps of a trail that the query leaves. */
export const stepsOf = (trail: number) => (state.model.data.trails[trail]?.steps ?? []).filter((s) => !state.query.steps.size || state.query.steps.has(s.i));
