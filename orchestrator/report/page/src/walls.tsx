// Pictures side by side: one step on all devices, one device over all steps; and where the time went.

import type { Session } from "./data";
import type { Place } from "./model";
import { both, marksOf } from "./pair";
import { spent } from "./panel";
import { columns, go, state } from "./store";
import { Figure, Sign, time, word } from "./ui";

/** A figure with what differs from the reference drawn over it, grey when nothing does. */
function Compared({ session, step, caption }: { session: Session; step: number; caption: string }) {
  const { model } = state;
  const at = model.at(session, step);
  if (!at || at.mark === "not_run") return <figure class="unreached"><span class="shot"><span class="none">not reached</span></span><figcaption><span>{caption}</span></figcaption></figure>;
  const key = model.keyOf(session, step);
  const place = model.place(key);
  const reference = model.nearest(session, step);
  const [mine, other] = [at.seen, model.at(reference, step)?.seen];
  // Across engines, sizes and schemes it is the tree that counts; pixels never agree there.
  const samePicture = mine?.picture !== undefined && mine.picture === other?.picture;
  const sameTree = mine?.tree !== undefined && mine.tree === other?.tree;
  const same = reference !== undefined && (samePicture || (sameTree && !model.visual(session.id, step, reference.id)));
  const pair = place && reference ? both(place, reference.id) : null;
  return <Figure session={session} step={at} caption={caption} href={reference ? `#pair/${key}/${reference.id}` : `#${key}`} same={same} marks={pair && state.boxes ? marksOf(pair).here : undefined} />;
}

export function Wall({ trail, step }: { trail: number; step: number }) {
  const { model } = state;
  const steps = model.data.trails[trail]?.steps ?? [];
  const text = model.stepText(trail, step);
  const sessions = columns(trail).flatMap((c) => c.sessions);
  return <>
    <h1 tabIndex={-1}>{text.label} {text.text}</h1>
    <p class="choice"><label>step <select value={step} onChange={(e) => go(`#wall/${trail}/${e.currentTarget.value}`)}>{steps.map((s) => <option value={s.i}>{s.i === 0 ? "trailhead" : s.i}: {s.text}</option>)}</select></label> <span class="quiet">on {sessions.length} devices</span></p>
    <div class="wall">{sessions.map((session) => <Compared key={session.id} session={session} step={step} caption={state.model.name(session)} />)}</div>
  </>;
}

export function Film({ place }: { place: Place }) {
  const { model } = state;
  const { session } = place;
  const all = model.data.sessions.filter((s) => s.trail === session.trail && state.shown.has(s.id));
  return <>
    <h1 tabIndex={-1}>{state.model.name(session)}</h1>
    <p class="choice"><label>device <select value={session.id} onChange={(e) => go(`#film/${e.currentTarget.value}`)}>{(all.includes(session) ? all : [session, ...all]).map((s) => <option value={s.id}>{state.model.name(s)}</option>)}</select></label> <a href={`#${session.id}`}>its details</a></p>
    <div class="wall">{(model.data.trails[session.trail]?.steps ?? []).map((s) => <Compared key={s.i} session={session} step={s.i} caption={`${s.i === 0 ? "Trailhead" : s.i} ${s.text}`} />)}</div>
  </>;
}

/** Sessions of a device in as few lines as they fit in without overlapping. */
function lanes(sessions: { from: number; to: number; session: Session; attempt: Session["attempts"][number] }[]) {
  const lines: (typeof sessions)[] = [];
  for (const one of sessions.sort((a, b) => a.from - b.from)) {
    const line = lines.find((l) => (l.at(-1)?.to ?? 0) <= one.from);
    if (line) line.push(one); else lines.push([one]);
  }
  return lines;
}
export function Timeline() {
  const { model } = state;
  const all = model.data.sessions.filter((s) => state.shown.has(s.id)).flatMap((session) => session.attempts.filter((a) => a.to > a.from).map((attempt) => ({ from: attempt.from, to: attempt.to, session, attempt })));
  const end = Math.max(1, ...all.map((a) => a.to));
  const percent = (ms: number) => `${(ms / end) * 100}%`;
  const device = (s: Session) => s.device.id.split(" (")[0] ?? "";
  const devices = [...new Set(all.map((a) => device(a.session)))];
  return <>
    <h1 tabIndex={-1}>Timeline</h1>
    <Times />
    <p class="quiet">From 0 to {time(end)}. Hatched: the device is made ready. Each block is a step.</p>
    <div class="timeline">{devices.map((id) => <section><h2>{id}</h2>{lanes(all.filter((a) => device(a.session) === id)).map((line) => <div class="lane">{line.map(({ session, attempt }) => {
      const parts = spent(session, attempt);
      const name = `${state.model.name(session)}, ${model.data.trails[session.trail]?.title}`;
      return <>
        <a class="starting" href={`#${session.id}`} title={`${name}: starting ${time(parts.starting)}`} aria-label={`${name}: ${word(attempt.mark)}, ${attempt.time}`} style={{ left: percent(attempt.from), width: percent(attempt.to - attempt.from) }} />
        {attempt.steps.filter((s) => s.at !== undefined && s.ms > 0).map((s) => <a class={`m-${s.mark}`} href={`#${attempt.id}-${s.i}`} tabIndex={-1} aria-hidden="true" title={`${name}, step ${s.i}: ${word(s.mark)}, ${s.time}`} style={{ left: percent(s.at ?? 0), width: percent(s.ms) }}>{s.mark !== "passed" && <Sign mark={s.mark} />}</a>)}
      </>;
    })}</div>)}</section>)}</div>
  </>;
}

/** What all sessions together spent their time on; the parts add up. */
export function Times() {
  const all = state.model.data.sessions.flatMap((s) => s.attempts.filter((a) => a.to > a.from).map((a) => spent(s, a)));
  if (!all.length) return null;
  const sum = (part: keyof (typeof all)[number]) => all.reduce((total, one) => total + one[part], 0);
  const parts = { waiting: sum("waiting"), starting: sum("starting"), steps: sum("steps"), between: sum("between") };
  const total = parts.waiting + parts.starting + parts.steps + parts.between;
  const named = Object.entries({ waiting: parts.waiting, starting: parts.starting, steps: parts.steps, overhead: parts.between });
  return <p class="facts">{time(total)} over all sessions = {named.filter(([, ms]) => ms >= 1).map(([name, ms]) => `${name} ${time(ms)}`).join(" + ")}</p>;
}
