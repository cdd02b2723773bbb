// Steps by cells: columns grouped by what went alike, equal ones folded into one.

import { Component } from "preact";
import type { Data, Session } from "./data";
import { rank } from "./model";
import { isHit } from "./query";
import { type Column, columns, lettersOf, redraw, state, stepsOf } from "./store";
import { count, Sign, Facts, word, Words } from "./ui";

const density = (n: number) => n <= 6 ? "wide" : n <= 14 ? "medium" : "compact";

/** What tells a column from its neighbours: its configuration, or its device. */
function about(session: Session): { model: string; line: string } {
  if (!session.cell) return { model: state.model.name(session), line: session.device.system };
  const [first = "", ...rest] = state.model.name(session).split(", ");
  return { model: first, line: rest.join(", ") };
}

interface RowProps { trail: number; i: number; columns: Column[]; cursor: string; current: string; version: unknown }
/** A row is drawn again only when something in it changed: a run has thousands of cells. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps) {
    const is = this.props;
    const mine = (key: string) => key.endsWith(`-${is.i}`);
    return next.version !== is.version || (next.cursor !== is.cursor && (mine(next.cursor) || mine(is.cursor))) || (next.current !== is.current && (mine(next.current) || mine(is.current)));
  }
  override render({ trail, i, columns, cursor, current }: RowProps) {
    const { model, query } = state;
    const text = model.data.trails[trail]?.steps.find((s) => s.i === i);
    return <tr class={text?.kind === "trailhead" ? "trailhead" : ""}>
      <th class="step" scope="row"><span class="n">{text?.kind === "trailhead" ? "" : i}</span><span class="text">{text && text.kind !== "step" && <><span class="kind">{text.kind}</span> </>}{text?.text}</span></th>
      <td class="spread">{text?.spread}</td>
      {columns.map((column) => {
        const key = model.keyOf(column.head, i);
        const steps = column.sessions.map((s) => model.at(s, i));
        const step = steps.reduce((worst, s) => s && (!worst || rank(s.mark) < rank(worst.mark)) ? s : worst, steps[0]);
        const found = column.sessions.flatMap((s) => model.causesAt(s.id, i)).filter((f) => !f.cluster.everywhere).map((f): [string, string] => [f.cluster.letter, f.cluster.kind]);
        const letters: [string, string][] = [...new Map(found)].sort();
        const left = letters.some(([, kind]) => kind === "failure" || kind === "difference");
        const noisy = step?.reports?.some((r) => r.bad);
        const hit = column.sessions.some((s) => isHit(query, model, model.at(s, i)));
        const mark = step?.mark ?? "not_run";
        const idle = mark === "passed" && steps.every((s) => s?.idle);
        const title = [idle ? "nothing to do" : word(mark), column.sessions.length === 1 && step?.time, column.sessions.length > 1 && `${column.sessions.length} alike`, letters.length && `cause ${letters.map(([l]) => l).join(", ")}`, noisy && "errors on the device", hit && "shows the text"].filter(Boolean).join(", ");
        return <td class={column.edge ? "edge" : ""}><a class={`m-${mark}${left ? " first" : ""}${hit ? " hit" : ""}`} href={`#${key}`} title={title} tabIndex={cursor === key ? 0 : -1} aria-current={current === key ? "true" : undefined}>
          {idle ? <i aria-hidden="true">-</i> : <Sign mark={mark} />}<span class="unseen">{title}</span>{column.sessions.length === 1 && !idle && <span class="t" aria-hidden="true"> {step?.time}</span>}{noisy && <u aria-hidden="true">!</u>}{letters.map(([l, kind]) => <b class={`l k-${kind}`} aria-hidden="true">{l}</b>)}
        </a></td>;
      })}
    </tr>;
  }
}

function Head({ column, all }: { column: Column; all: number }) {
  const { head, sessions } = column;
  const { model, line } = about(head);
  const fold = () => { if (state.unfolded.has(column.id)) state.unfolded.delete(column.id); else state.unfolded.add(column.id); redraw(); };
  const many = sessions.length > 1;
  const current = state.route.name === "step" && state.route.place.key === head.id;
  return <th class={`dev${column.edge ? " edge" : ""}`} scope="col">
    <a class={`m-${head.mark}`} href={`#${head.id}`} tabIndex={-1} aria-current={current ? "true" : undefined} title={[head.device.model, head.device.id, head.device.system, Object.entries(head.cell ?? {}).map(([k, v]) => `${k}=${v}`).join(" "), word(head.mark), head.time, head.attempts.length > 1 && `${head.attempts.length} attempts`].filter(Boolean).join(" · ")}>
      <span class="head">{many ? <span class="model">{all === sessions.length ? "all" : head.mark === "passed" ? "passed" : "these"} alike</span> : <><span class="model">{model}</span>{line && <span class="id">{line}</span>}</>}</span>
      <span class="sum"><Sign mark={head.mark} /><span class="unseen">{word(head.mark)}</span><span class="t"> {many ? "" : head.time}{head.attempts.length > 1 && <span class="tries"> ×{head.attempts.length}</span>}</span></span>
    </a>
    {column.letters.length > 0 && (many || column.folds) && <span class="ls">{column.letters.slice(0, 3).map((l) => <b class="l">{l}</b>)}</span>}
    {column.folds && <button type="button" class="fold" aria-expanded={!many} aria-label={many ? `Show all ${sessions.length}` : "Fold what is alike"} title={many ? `Show all ${sessions.length}` : "Fold what is alike"} onClick={fold}>{many ? `×${sessions.length}` : "−"}</button>}
  </th>;
}

const Notes = ({ of }: { of: Data["trails"][number]["notes"] }) => of.length > 0 ? <details class="aside"><summary>{count(of.length, "note")} on steps</summary><ul class="notes">
  {of.map((note) => <li><a href={`#${note.href}`}>{note.step}</a>: <Words text={note.text} />{note.who && <span class="who"> {note.who}</span>}</li>)}
</ul></details> : null;

export class Trail extends Component<{ trail: number }> {
  private key = "";
  private version = {};
  override render({ trail }: { trail: number }) {
    const { model } = state;
    const summary = model.data.trails[trail];
    const all = columns(trail);
    if (!summary || !all.length) return null;
    // Whatever changes a row from outside of it.
    const key = all.map((c) => `${c.head.id}${c.sessions.length}`).join() + state.query.text;
    if (key !== this.key || this.model !== model) { this.key = key; this.model = model; this.version = {}; }
    const steps = stepsOf(trail);
    const sessions = all.flatMap((c) => c.sessions);
    const worst = sessions.reduce((w, s) => rank(s.mark) < rank(w) ? s.mark : w, "passed");
    const cells = new Set(all.flatMap((c) => steps.map((s) => model.keyOf(c.head, s.i))));
    const [first] = steps;
    const cursor = cells.has(state.cursor) ? state.cursor : first && all[0] ? model.keyOf(all[0].head, first.i) : "";
    const current = state.route.name === "step" ? state.route.place.key : "";
    const wall = steps.find((s) => model.data.sessions.some((x) => x.trail === trail && model.frame(model.at(x, s.i)))) ?? first;
    return <section class="block trail" id={`t${trail}`}>
      <h2><span class={`sign m-${worst}`} aria-hidden="true">{model.data.marks[worst]?.sign}</span> {summary.title} <small>{summary.path}</small></h2>
      <Facts of={[...summary.facts, wall && <a href={`#wall/${trail}/${wall.i}`}>screenshot wall</a>, <a href="#time">timeline</a>]} />
      <div class="scroll"><table class={`grid ${density(all.length)}${sessions.some((s) => s.cell) ? " celled" : ""}`}>
        <thead><tr><th class="corner" scope="col">Step</th><th class="spread" scope="col" title="fastest – slowest where it passed">range</th>{all.map((column) => <Head key={column.head.id} column={column} all={sessions.length} />)}</tr></thead>
        <tbody>{steps.map((s) => <Row key={s.i} trail={trail} i={s.i} columns={all} cursor={cursor} current={current} version={this.version} />)}</tbody>
      </table></div>
      <Notes of={summary.notes.filter((n) => n.sessions.split(" ").some((id) => state.shown.has(id)))} />
    </section>;
  }
  private model: unknown = null;
}

/** Trails by devices: the whole run at a glance. */
export function Overview() {
  const { model } = state;
  const { data } = model;
  if (data.trails.length < 2) return null;
  const shown = data.sessions.filter((s) => state.shown.has(s.id));
  const name = (s: Session) => s.device.id;
  const devices = [...new Map(shown.map((s) => [name(s), s])).values()].sort((a, b) => rankOf(shown, a) < rankOf(shown, b) ? -1 : 1);
  const byKey = new Map(shown.map((s) => [`${s.trail}/${name(s)}`, s]));
  return <section class="block" id="overview"><h2>Trails by {devices.some((s) => s.cell) ? "cell" : "device"}</h2><div class="scroll"><table class={`grid ${density(devices.length)}`}>
    <thead><tr><th class="corner" scope="col">Trail</th>{devices.map((s) => { const { model, line } = about(s); return <th class="dev" scope="col"><div title={`${s.device.model} · ${s.device.id} · ${s.device.system}`}><span class="head"><span class="model">{model}</span><span class="id">{line}</span></span></div></th>; })}</tr></thead>
    <tbody>{data.trails.map((trail, at) => shown.some((s) => s.trail === at) && <tr><th class="step" scope="row"><a href={`#t${at}`}><span class="text">{trail.title}</span></a></th>{devices.map((device) => {
      const s = byKey.get(`${at}/${name(device)}`);
      if (!s) return <td />;
      const [letter] = lettersOf(s);
      return <td><a class={`m-${s.mark}`} href={`#${s.id}`} title={`${word(s.mark)}${s.time ? `, ${s.time}` : ""}`}><Sign mark={s.mark} /><span class="unseen">{word(s.mark)}</span><span class="t"> {s.time}</span>{letter && <b class="l">{letter}</b>}</a></td>;
    })}</tr>)}</tbody>
  </table></div></section>;
}
const rankOf = (shown: Session[], device: Session) => shown.filter((s) => s.device.id === device.device.id).map((s) => rank(s.mark)).sort().join();
