// A card for each cause: what, in which trail, step and cells, what it looks like beside the nearest
// pass, the command that runs it again. Failures first, then what was not tested, then what differs.

import type { Cluster, Problem } from "./data";
import { both, marksOf } from "./pair";
import { ask, state } from "./store";
import { clusterMarkdown } from "./markdown";
import { Command, Copy, count, Picture, windowTop, Words } from "./ui";

const KINDS: Record<string, [string, string]> = {
  failure: ["✗", "failed"], flaky: ["↻", "flaky"], difference: ["≠", "differs"], defect: ["△", "layout defect"], visual: ["◩", "looks different"],
  console: ["!", "console"], network: ["!", "network"], slow: ["◷", "slow"],
};
/** How high a picture on a card is, in its widths. */
const WINDOW = 1.76;

const at = (trail: number, step: number) => {
  const { model } = state;
  const text = model.stepText(trail, step);
  return `${model.data.trails[trail]?.title}, ${text.label === "Trailhead" ? "trailhead" : `step ${text.label}`}: ${text.text}`;
};

function Card({ cluster, nth }: { cluster: Cluster; nth: number }) {
  const { model } = state;
  const first = cluster.occurrences.find((o) => model.byPlace(o.session));
  const place = first ? model.place(model.keyAt(first)) : null;
  const against = model.byPlace(first?.nearest);
  const pair = place && against ? both(place, against.id) : null;
  // Pictures of the first cards are drawn at once, so that the page opens fast with many.
  const frames = pair && nth < 12 ? { here: model.frame(pair.step), there: model.frame(pair.other), marks: marksOf(pair) } : null;
  const top = frames ? windowTop([{ frame: frames.here, marks: frames.marks.here }, { frame: frames.there, marks: frames.marks.there }], WINDOW) : 0;
  const [sign, kind] = KINDS[kindOf(cluster)] ?? ["?", cluster.kind];
  const cells = [...new Map(cluster.occurrences.map((o) => [model.byPlace(o.session)?.id, o])).values()];
  const also = cluster.also ?? [];
  return <li id={`cause-${cluster.letter}`} tabIndex={-1} class={`card k-${kindOf(cluster)}`}>
    <a class="letter" href={place ? `#${place.key}` : undefined} title="Open the first of them" aria-label={`Cause ${cluster.letter}: ${cluster.title}`}>{cluster.letter}</a>
    <div class="body">
      <h3><span class="kind"><span aria-hidden="true">{sign}</span> {kind}</span> {cluster.title}{cluster.place && <span class="place">, {cluster.place}</span>}</h3>
      {first && <p class="where">{at(first.trail, first.step)}{cluster.trails > 1 && ` and in ${count(cluster.trails - 1, "other trail")}`}</p>}
      {cluster.detail && cluster.detail !== cluster.title && <p class="message">{cluster.detail}</p>}
      <p class="devices"><span>{count(cluster.cells.length, model.byPlace(first?.session)?.cell ? "cell" : "device")}</span>
        {cells.slice(0, 6).map((o) => { const s = model.byPlace(o.session); return s && <a href={`#${model.keyAt(o)}`}>{model.name(s)}</a>; })}
        {cells.length > 6 && <span>and {cells.length - 6} more</span>}</p>
      <p class="words"><Words text={cluster.words} /></p>
      {place?.step?.said?.hint && <p class="hint"><Words text={place.step.said.hint} /></p>}
      {also.length > 0 && <details class="aside"><summary>{also.length} more of the same</summary><ul class="items">{also.map((line) => <li>{line}</li>)}</ul></details>}
    </div>
    {frames && (frames.here || frames.there) && pair && place && against && <a class="looks" href={`#pair/${place.key}/${against.id}`}><span class="unseen">Compare </span>
      {frames.there && <figure><Picture frame={frames.there} alt="" marks={frames.marks.there} top={top} /><figcaption>{model.name(against)}</figcaption></figure>}
      {frames.here && <figure><Picture frame={frames.here} alt="" marks={frames.marks.here} top={top} /><figcaption>{model.name(pair.session)}</figcaption></figure>}
    </a>}
    <div class="acts">
      {cluster.again && <Command text={cluster.again} />}
      {cluster.next && !cluster.words.includes(cluster.next.command) && <><p class="quiet">To tell the explanations apart:</p><Command text={cluster.next.command} /></>}
      <p class="doing"><button type="button" class="plain" onClick={() => ask(`cause:${cluster.letter}`)}>show only these</button><Copy text={() => clusterMarkdown(cluster)} label="copy as Markdown" />
        {place && against && <a class="plain" href={`#pair/${place.key}/${against.id}`}>Compare</a>}</p>
    </div>
  </li>;
}
const Cards = ({ list }: { list: Cluster[] }) => <ol class="cards">{list.map((cluster, nth) => <Card cluster={cluster} nth={nth} />)}</ol>;
const Folded = ({ title, list }: { title: string; list: Cluster[] }) => list.length ? <details class="aside"><summary>{title}</summary><Cards list={list} /></details> : null;

/** A failure that every session of it got over is flaky. */
const kindOf = (cluster: Cluster) => cluster.kind === "failure" && cluster.occurrences.every((o) => state.model.byPlace(o.session)?.mark === "flaky") ? "flaky" : cluster.kind;
/** The causes that the query leaves, in the order of the page. */
export function causes() {
  const all = (state.model.comparison.clusters ?? []).filter((c) => c.occurrences.some((o) => { const s = state.model.byPlace(o.session); return s && state.shown.has(s.id); }));
  const rest = all.filter((c) => c.kind !== "failure");
  const hasPattern = (c: Cluster) => c.verdict !== "weak" && c.verdict !== "unknown";
  return { failures: all.filter((c) => kindOf(c) === "failure"), flaky: all.filter((c) => kindOf(c) === "flaky"), differences: rest.filter(hasPattern), unexplained: rest.filter((c) => !hasPattern(c)) };
}

/** What kept sessions from being tested, and what is not recorded: all that did not pass and is no cause. */
function Untested() {
  const { model } = state;
  const all = model.data.trails.flatMap((trail) => trail.problems.filter((p) => !p.letter && p.sessions.split(" ").some((id) => state.shown.has(id))).map((problem) => ({ trail, problem })));
  const card = ({ trail, problem }: { trail: { title: string }; problem: Problem }) => <li class={`m-${problem.mark.key}`}>
    <a class="letter" href={`#${problem.href}`} title="Open the first of them">{problem.mark.sign}</a>
    <div>
      <p class="what"><b>{problem.what}</b> <span class="who">{problem.who}</span></p>
      <p class="where">{trail.title}{problem.step && `: ${problem.step}`}</p>
      {problem.message && <p class="message"><Words text={problem.message} /></p>}
      {problem.hint && <p class="hint"><Words text={problem.hint} /></p>}
      <p class="devices">{problem.devices.map((device) => <a href={`#${device.href}`}>{device.name}</a>)}{problem.more > 0 && <span>and {problem.more} more</span>}</p>
    </div>
  </li>;
  if (!all.length) return null;
  const [first, rest] = [all.slice(0, 8), all.slice(8)];
  return <section class="block" id="untested"><h2>Not tested</h2>
    <ol class="divergences">{first.map(card)}</ol>
    {rest.length > 0 && <details class="aside"><summary>{rest.length} more</summary><ol class="divergences">{rest.map(card)}</ol></details>}
  </section>;
}

export function Failures() {
  const { failures, flaky } = causes();
  return <>
    {failures.length > 0 && <section class="block" id="failures"><h2>{failures.length === 1 ? "Failure" : "Failures"}</h2><Cards list={failures} /></section>}
    <Untested />
    {flaky.length > 0 && <section class="block" id="flaky"><h2>Flaky</h2><Cards list={flaky} /></section>}
  </>;
}

const ITEMS: Record<string, string> = {
  name: "renamed", value: "with another value", state: "in another state", order: "reordered", out_of_view: "scrolled out of view", into_view: "scrolled into view",
  untranslated: "not translated", raw_key: "shown as raw keys", matches: "with another number of matches",
};
export function Differences() {
  const { comparison } = state.model;
  const { differences, unexplained } = causes();
  const conventions = comparison.conventions ?? [];
  const aside = [
    ...(comparison.expected ?? []).map((e) => `${e.count} ${ITEMS[e.kind] ?? e.kind}, explained by ${e.axis}`),
    ...(comparison.expectations ?? []).filter((e) => e.hits === 0).map((e) => `expect: ${e.text} matched nothing`),
    ...(comparison.not_compared ?? []).map((n) => { const s = state.model.byPlace(n.session); return `${s ? state.model.name(s) : "a session"} was not compared: ${n.why}`; }),
    ...(comparison.noise ?? []).map((n) => { const cell = comparison.cells?.[n.cell]; return `step ${n.step} of ${cell?.label ?? cell?.id}: ${count(n.boxes.length, "region differs", "regions differ")} between repeats; a mask for ${n.boxes.map((b) => b.join(",")).join(" and ")} would leave ${n.boxes.length === 1 ? "it" : "them"} out`; }),
  ];
  if (!differences.length && !unexplained.length && !conventions.length && !aside.length) return null;
  return <section class="block" id="differences">
    <h2>{differences.length ? "Differences" : "No differences"}</h2>
    {differences.length > 0 && <Cards list={differences} />}
    <Folded title={count(unexplained.length, "unexplained difference")} list={unexplained} />
    {conventions.length > 0 && <details class="aside" id="conventions"><summary>How platforms differ ({conventions.reduce((sum, c) => sum + c.count, 0)})</summary><ul class="items">{conventions.map((c) => <li>{c.text}{(c.items ?? []).length > 0 && <span class="quiet"> {c.items?.join(", ")}{c.count > (c.items?.length ?? 0) && " …"}</span>}</li>)}</ul></details>}
    {aside.length > 0 && <details class="aside"><summary>What was left out</summary><ul class="items">{aside.map((line) => <li>{line}</li>)}</ul></details>}
  </section>;
}
