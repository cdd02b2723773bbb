// The details of a step or a session: why it did not pass, how it differs, screens, tool calls, files.

import type { Call, Session, Step } from "./data";
import type { Place } from "./model";
import { close, columns, go, set, state, stepsOf } from "./store";
import { Differs } from "./pair";
import { Command, Copy, count, Facts, Figure, Part, Sign, time, word, Words } from "./ui";

/** Where the arrows lead from a place. */
export function neighbour(place: Place, down: number, right: number): string | null {
  const { model } = state;
  const trail = place.session.trail;
  if (right) {
    const all = columns(trail);
    const at = all.findIndex((c) => c.sessions.includes(place.session));
    const next = all[at + right]?.head;
    return next && at >= 0 ? (place.step ? model.keyOf(next, place.step.i) : next.id) : null;
  }
  const steps = stepsOf(trail);
  const at = place.step ? steps.findIndex((s) => s.i === place.step?.i) : -1;
  const to = at + down;
  if (to === -1) return place.step ? place.session.id : null;
  const next = steps[to];
  return next && to >= 0 && place.attempt ? `${place.attempt.id}-${next.i}` : null;
}

function Bar({ place }: { place: Place }) {
  const move = (label: string, sign: string, down: number, right: number) => {
    const next = neighbour(place, down, right);
    return <button type="button" title={label} aria-label={label} disabled={!next} onClick={() => next && go(`#${next}`)}>{sign}</button>;
  };
  return <div class="bar">
    {move("Previous device", "←", 0, -1)}{move("Next device", "→", 0, 1)}{move("Previous step", "↑", -1, 0)}{move("Next step", "↓", 1, 0)}
    <span class="grow">{state.model.data.trails[place.session.trail]?.title}</span>
    <button type="button" title="Close (Esc)" aria-label="Close" onClick={close}>×</button>
  </div>;
}

function Lead({ place, mark, shown, title, facts }: { place: Place; mark: string; shown: string; title: string; facts: (string | undefined | false)[] }) {
  const { session } = place;
  const device = session.device;
  const causes = state.model.causesOf(session.id).filter((c) => !c.everywhere);
  return <div class="lead">
    <h1><span class={`pill m-${mark}`}><Sign mark={mark} /> {shown}</span>{title}</h1>
    <Facts of={[device.model, session.cell ? device.id.split(" (")[0] : device.id, device.system, device.screen, device.driver]} />
    {session.cell && <Facts of={Object.entries(session.cell).map(([axis, value]) => `${axis}=${value}`)} />}
    <Facts of={facts} />
    {causes.length > 0 && <p class="facts">{causes.map((c) => <><span><a href={`#cause-${c.letter}`}><b class={`l k-${c.kind}`}>{c.letter}</b> {c.title}</a></span> </>)}</p>}
    {session.attempts.length > 1 && <div class="tabs" role="group" aria-label="Attempts">{session.attempts.map((attempt) =>
      <a class={`m-${attempt.mark}`} href={`#${attempt.id}-${place.step?.i ?? attempt.bad ?? attempt.steps[0]?.i ?? 0}`} aria-current={place.step && attempt === place.attempt ? "true" : undefined}><Sign mark={attempt.mark} /> attempt {attempt.n} · {attempt.time}</a>)}</div>}
  </div>;
}

const Trouble = ({ mark, said }: { mark: string; said: Step["said"] }) => said?.message ? <section class="part"><div class={`trouble m-${mark}`}>
  <p class="message"><Words text={said.message} /></p>
  {said.hint && <p class="hint"><Words text={said.hint} /></p>}
  {said.at && <p class="at">{said.at}</p>}
  {said.log && <ol aria-label="What was tried">{said.log.map((line) => <li>{line}</li>)}</ol>}
</div></section> : null;

interface Shown { session: Session; step: Step; caption: string; href: string; here: boolean }
/** This step on every device: the one looked at, next to it the nearest that passed, then the others. */
function acrossDevices(place: Place, step: Step): Shown[] {
  const { model } = state;
  const nearest = model.nearest(place.session, step.i);
  const others = (model.order[place.session.trail] ?? []).map((at) => model.data.sessions[at]).filter((s) => s !== undefined)
    .filter((s) => s !== place.session && s !== nearest && state.shown.has(s.id));
  return [place.session, ...(nearest ? [nearest] : []), ...others].flatMap((session, n) => {
    const at = n === 0 ? step : model.at(session, step.i);
    return at && at.mark !== "not_run" ? [{ session, step: at, caption: state.model.name(session), href: n === 0 ? `#${place.key}` : `#${model.keyOf(session, step.i)}`, here: n === 0 }] : [];
  });
}
const acrossSteps = (place: Place): Shown[] => (place.attempt?.steps ?? []).filter((s) => s.mark !== "not_run").map((step) => {
  const text = state.model.stepText(place.session.trail, step.i);
  return { session: place.session, step, caption: `${text.label} ${text.text}`, href: `#${place.attempt?.id}-${step.i}`, here: step.i === place.step?.i };
});

export interface Frames { frames: { src: string; caption: string }[]; at: number }
function Screens({ place, enlarge }: { place: Place; enlarge: (frames: Frames) => void }) {
  const { model } = state;
  const across = place.step ? state.strip : "steps";
  const all = across === "devices" && place.step ? acrossDevices(place, place.step) : acrossSteps(place);
  if (!all.some((one) => model.frame(one.step))) return null;
  // Pictures are made as they are drawn, so a strip has no more of them than anybody looks at.
  const shown = all.slice(0, 24);
  const open = (step: Step) => {
    const frames = shown.flatMap((one) => { const frame = model.frame(one.step); return frame ? [{ step: one.step, src: frame.src, caption: `${one.caption}: ${word(one.step.mark)}` }] : []; });
    enlarge({ frames, at: frames.findIndex((f) => f.step === step) });
  };
  const choose = (which: "devices" | "steps", label: string) => <button type="button" aria-pressed={across === which} onClick={() => set({ strip: which })}>{label}</button>;
  return <Part title="Screens" tools={<span class="tabs">
    {place.step && <>{choose("devices", "this step, every device")}{choose("steps", "this device, every step")}</>}
    <a href={across === "devices" && place.step ? `#wall/${place.session.trail}/${place.step.i}` : `#film/${place.attempt?.id}`}>all {all.length} as a wall</a>
  </span>}>
    <div class="strip">{shown.map((one) => <Figure {...one} enlarge={() => open(one.step)} />)}</div>
  </Part>;
}

function plainValue(value: unknown, nested: boolean): string {
  if (value === null || typeof value !== "object") return nested || typeof value !== "string" ? JSON.stringify(value) : value;
  if (Array.isArray(value)) return `[${value.map((v) => plainValue(v, true)).join(", ")}]`;
  return `{ ${Object.entries(value).map(([k, v]) => `${k}: ${plainValue(v, true)}`).join(", ")} }`;
}
function given(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object" || Array.isArray(value)) return plainValue(value, true);
  return Object.entries(value).map(([k, v]) => `${k}: ${plainValue(v, true)}`).join("\n");
}
const Calls = ({ list }: { list: Call[] }) => <Part title="Tool calls"><div class="calls">{list.map((call) =>
  <div class={`call m-${call.mark}`} style={{ "--depth": String(Math.min(call.depth ?? 0, 8)) }}>
    <Sign mark={call.mark} />
    <div><span class="tool">{call.tool}</span><span class="unseen"> {word(call.mark)}</span>{given(call.args) && <div class="args">{given(call.args)}</div>}</div>
    <span class="time">{call.time}</span>
    {call.by && <p class="more">found by <code>{call.by}</code>{(call.matched ?? 0) > 1 && <span class="badge">{call.matched} matched</span>}</p>}
    {call.notes?.map((note) => <p class="more">note: {note}</p>)}
    {call.said && <p class="more bad">{call.said}</p>}
    {call.answer && <p class="more">answered <code>{call.answer}</code></p>}
    {call.via && <p class="more">{call.via}{call.log && <>, <a href={state.model.fileUrl(call.log)} target="_blank" rel="noopener">its log</a></>}</p>}
  </div>)}</div></Part>;

/** A path as a word of a shell. */
const quoted = (path: string) => /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
const Files = ({ step }: { step: Step }) => <Part title="Files"><ul class="files">{step.files?.map((file) => <li>
  <a href={state.model.fileUrl(file.path)} target="_blank" rel="noopener">{file.path}</a><span>{file.kind}</span><span>{file.size}</span>
  {file.kind === "trace" && <Command text={`npx playwright show-trace ${quoted(state.model.data.root + file.path)}`} />}
</li>)}</ul></Part>;

function StepDetails({ place, step, enlarge }: { place: Place; step: Step; enlarge: (frames: Frames) => void }) {
  const { model } = state;
  const text = model.stepText(place.session.trail, step.i);
  const trail = model.data.trails[place.session.trail];
  const nearest = model.nearest(place.session, step.i);
  const differs = nearest && (["failed", "needs_agent", "infrastructure"].includes(step.mark) || model.causesAt(place.session.id, step.i).length > 0 || model.difference(place.session.id, step.i, nearest.id) || model.visual(place.session.id, step.i, nearest.id));
  return <>
    <Lead place={place} mark={step.mark} shown={step.word ?? word(step.mark)} title={`${text.label}  ${text.kind === "verify" ? "verify: " : ""}${text.text}`}
      facts={[step.time && `took ${step.time}`, text.line ? `${trail?.path}:${text.line}` : undefined]} />
    <Trouble mark={step.mark} said={step.said} />
    {differs && <Differs place={place} against={nearest} />}
    {nearest && !differs && step.seen && <p class="quiet more"><a href={`#pair/${place.key}/${nearest.id}`}>compare with {state.model.name(nearest)}</a></p>}
    {(step.seen?.defects || step.seen?.notes) && <Part title="Seen at its end"><ul class="items">{[...(step.seen.defects ?? []), ...(step.seen.notes ?? [])].map((line) => <li><Words text={line} /></li>)}</ul></Part>}
    <Screens place={place} enlarge={enlarge} />
    {step.calls && <Calls list={step.calls} />}
    {step.reports && <Part title="Console and events"><ul class="reports">{step.reports.map((report) => <li class={report.bad ? "bad" : ""}><span class="level">{report.bad ? "! " : ""}{report.level}</span><span class="said">{report.text}{report.src && <span class="src">  {report.src}</span>}</span></li>)}
      {step.more && <li><span />and {step.more} more</li>}</ul></Part>}
    {step.texts?.map((t) => <Part title={t.label} tools={<Copy text={() => state.model.text(t.n)} label="copy" />}><pre tabIndex={0}>{state.model.text(t.n)}</pre></Part>)}
    {step.files && <Files step={step} />}
  </>;
}

/** What a session's time was spent on; the parts add up to the whole. */
export function spent(session: Session, attempt: Session["attempts"][number]) {
  const before = session.attempts[session.attempts.indexOf(attempt) - 1]?.to ?? 0;
  const first = attempt.steps.find((s) => s.at !== undefined)?.at;
  const steps = attempt.steps.reduce((sum, s) => sum + s.ms, 0);
  const starting = Math.max(0, (first ?? attempt.to) - attempt.from);
  return { waiting: Math.max(0, attempt.from - before), starting, steps, between: Math.max(0, attempt.to - attempt.from - starting - steps) };
}
function SessionDetails({ place, enlarge }: { place: Place; enlarge: (frames: Frames) => void }) {
  const { session, attempt } = place;
  const bad = attempt?.steps.find((s) => s.i === attempt.bad);
  const parts = attempt && attempt.to > attempt.from ? spent(session, attempt) : null;
  return <>
    <Lead place={place} mark={session.mark} shown={session.word ?? word(session.mark)} title={state.model.data.trails[session.trail]?.title ?? ""}
      facts={[session.time, session.attempts.length > 1 && count(session.attempts.length, "attempt")]} />
    {parts && <Facts of={[`waiting ${time(parts.waiting)}`, `starting ${time(parts.starting)}`, `steps ${time(parts.steps)}`, parts.between >= 1 && `overhead ${time(parts.between)}`]} />}
    {bad?.said ? <Trouble mark={bad.mark} said={bad.said} /> : <Trouble mark={session.mark} said={session.said} />}
    {attempt && <Screens place={place} enlarge={enlarge} />}
    {attempt?.axes && <Part title="Configuration, read back"><table class="rows"><tbody>{attempt.axes.map((a) => <tr><td>{a.axis}</td><td>{a.got}{a.got !== a.want && ` instead of ${a.want}`}</td><td>{a.how}, {time(a.took_ms)}</td></tr>)}</tbody></table></Part>}
    {attempt && <Part title="Steps"><table class="rows"><tbody>{attempt.steps.map((s) => {
      const text = state.model.stepText(session.trail, s.i);
      return <tr class={`m-${s.mark}`}><td><Sign mark={s.mark} /></td><td>{text.label}</td><td><a href={`#${attempt.id}-${s.i}`}>{text.text || "step"}</a></td><td>{s.time || word(s.mark)}</td></tr>;
    })}</tbody></table></Part>}
  </>;
}
export const Panel = ({ place, enlarge }: { place: Place; enlarge: (frames: Frames) => void }) => <aside id="panel" tabIndex={-1} aria-label="Details">
  <Bar place={place} />
  {place.step ? <StepDetails place={place} step={place.step} enlarge={enlarge} /> : <SessionDetails place={place} enlarge={enlarge} />}
</aside>;
