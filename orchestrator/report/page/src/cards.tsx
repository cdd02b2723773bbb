// A card for each cause: what, on which cells, what it looks like beside the nearest pass, the
// command that runs it again.

import type { Cluster, Divergence } from "./data";
import { both, marksOf } from "./pair";
import { ask, state } from "./store";
import { clusterMarkdown } from "./markdown";
import { Command, Copy, count, Picture, Words } from "./ui";

const KINDS: Record<string, [string, string]> = {
  failure: ["✗", "fails"], difference: ["≠", "differs"], defect: ["△", "layout defect"], visual: ["◩", "looks different"],
  console: ["!", "console"], network: ["!", "network"], slow: ["◷", "slow"],
};
export const kindOf = (kind: string): [string, string] => KINDS[kind] ?? ["?", kind];

function Card({ cluster, at }: { cluster: Cluster; at: number }) {
  const { model } = state;
  const first = cluster.occurrences.find((o) => model.byPlace(o.session));
  const session = model.byPlace(first?.session);
  const place = first && session ? model.place(model.keyOf(session, first.step)) : null;
  const against = model.byPlace(first?.nearest);
  const pair = place && against ? both(place, against.id) : null;
  // Pictures of the first cards are drawn at once, so that the page opens fast with many.
  const frames = pair && at < 12 ? { here: model.frame(pair.step), there: model.frame(pair.other), marks: marksOf(pair) } : null;
  const [sign, kind] = kindOf(cluster.kind);
  const trail = first && model.data.trails[first.trail];
  const text = first && model.stepText(first.trail, first.step);
  return <li id={`cause-${cluster.letter}`} tabIndex={-1} class={`card k-${cluster.kind}`}>
    <a class="letter" href={place ? `#${place.key}` : undefined} title="Open the first of them" aria-label={`Cause ${cluster.letter}: ${cluster.title}`}>{cluster.letter}</a>
    <div class="body">
      <h3><span class="kind"><span aria-hidden="true">{sign}</span> {kind}</span> {cluster.title}</h3>
      <p class="words"><Words text={cluster.words} /></p>
      {text && <p class="where">{model.data.trails.length > 1 ? `${trail?.title}, ` : ""}{text.label === "Trailhead" ? "trailhead" : `step ${text.label}`}: {text.text}</p>}
      {cluster.detail && cluster.detail !== cluster.title && <p class="message">{cluster.detail}</p>}
      {place?.step?.said?.hint && <p class="hint"><Words text={place.step.said.hint} /></p>}
      <p class="devices"><span>{count(cluster.cells.length, "cell")}{cluster.trails > 1 ? ` in ${cluster.trails} trails` : ""}</span>
        {cluster.occurrences.slice(0, 6).map((o) => { const s = model.byPlace(o.session); return s && <a href={`#${model.keyOf(s, o.step)}`}>{state.model.name(s)}</a>; })}
        {cluster.occurrences.length > 6 && <span>and {cluster.occurrences.length - 6} more</span>}</p>
    </div>
    {frames && (frames.here || frames.there) && place && against && <a class="looks" href={`#pair/${place.key}/${against.id}`}><span class="unseen">Compare </span>
      {frames.there && <figure><Picture frame={frames.there} alt="" marks={frames.marks.there} /><figcaption>nearest that passed</figcaption></figure>}
      {frames.here && <figure><Picture frame={frames.here} alt="" marks={frames.marks.here} /><figcaption>this</figcaption></figure>}
    </a>}
    <div class="acts">
      {cluster.again && <Command text={cluster.again} />}
      {cluster.next && !cluster.words.includes(cluster.next.command) && <><p class="quiet">To tell the explanations apart:</p><Command text={cluster.next.command} /></>}
      <p class="doing"><button type="button" class="plain" onClick={() => ask(`cause:${cluster.letter}`)}>show only these</button><Copy text={() => clusterMarkdown(cluster)} label="copy as Markdown" />
        {place && against && <a class="plain" href={`#pair/${place.key}/${against.id}`}>compare</a>}</p>
    </div>
  </li>;
}

export function Causes() {
  const { comparison } = state.model;
  if (!comparison) return null;
  const clusters = comparison.clusters ?? [];
  const inView = (cluster: Cluster) => cluster.occurrences.some((o) => { const s = state.model.byPlace(o.session); return s && state.shown.has(s.id); });
  const [some, everywhere] = [clusters.filter((c) => !c.everywhere && inView(c)), clusters.filter((c) => c.everywhere && inView(c))];
  const skipped = comparison.not_compared ?? [];
  const expected = (comparison.expected ?? []).map((e) => `${count(e.count, "difference")} in ${e.kind.replaceAll("_", " ")} expected by ${e.axis}`);
  const idle = (comparison.expectations ?? []).filter((e) => e.hits === 0);
  return <section class="block" id="causes">
    <h2>Causes{comparison.settled < comparison.planned && <small> so far, {comparison.settled} of {comparison.planned}</small>}</h2>
    {some.length ? <ol class="cards">{some.map((cluster, at) => <Card cluster={cluster} at={at} />)}</ol> : <p class="quiet">Nothing differs that was not expected{state.query.text ? " among what the query shows" : ""}.</p>}
    {everywhere.length > 0 && <details class="aside"><summary>{count(everywhere.length, "finding")} on every cell</summary><ol class="cards">{everywhere.map((cluster, at) => <Card cluster={cluster} at={at} />)}</ol></details>}
    {(expected.length > 0 || idle.length > 0 || skipped.length > 0 || (comparison.noise ?? []).length > 0) && <details class="aside"><summary>What was left out</summary><ul class="items">
      {expected.map((line) => <li>{line}</li>)}
      {idle.map((e) => <li>`expect: {e.text}` matched nothing</li>)}
      {skipped.map((n) => { const s = state.model.byPlace(n.session); return <li>{s ? <a href={`#${s.id}`}>{state.model.name(s)}</a> : "a session"} was not compared: {n.why}</li>; })}
      {(comparison.noise ?? []).map((n) => <li>step {n.step} of {comparison.cells?.[n.cell]?.id}: {count(n.boxes.length, "region")} differ between repeats, a mask for {n.boxes.map((b) => b.join(",")).join(" and ")} would leave {n.boxes.length === 1 ? "it" : "them"} out</li>)}
    </ul></details>}
  </section>;
}

/** Devices that went another way, as they are told without a comparison of configurations. */
export function Divergences({ list }: { list: Divergence[] }) {
  const { comparison } = state.model;
  const shown = list.filter((d) => d.sessions.split(" ").some((id) => state.shown.has(id)
    && !(comparison && state.model.causesOf(id).some((c) => c.kind === "failure"))));
  const card = (d: Divergence) => <li class={`m-${d.mark.key}`}>
    <a class="letter" href={`#${d.href}`} title="Open the first of them">{comparison ? d.mark.sign : d.letter}</a>
    <div>
      <p class="what"><b><span aria-hidden="true">{d.mark.sign}</span> {d.what}</b> <span class="who">{d.who}</span>{d.shared && <> <span class="shared">only {d.shared}</span></>}</p>
      {d.step && <p class="where">{d.step}</p>}
      {d.message && <p class="message"><Words text={d.message} /></p>}
      {d.hint && <p class="hint"><Words text={d.hint} /></p>}
      <p class="devices">{d.devices.map((device) => { const s = state.model.place(device.href)?.session; return <a href={`#${device.href}`}>{s ? state.model.name(s) : device.name}</a>; })}{d.more > 0 && <span>and {d.more} more</span>}</p>
    </div>
  </li>;
  const [first, rest] = [shown.slice(0, 8), shown.slice(8)];
  return shown.length ? <>
    <ol class="divergences">{first.map(card)}</ol>
    {rest.length > 0 && <details class="aside"><summary>{count(rest.length, "more divergence")}</summary><ol class="divergences">{rest.map(card)}</ol></details>}
  </> : null;
}
