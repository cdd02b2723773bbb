// What differs from what was approved: the approved picture beside the run's.

import type { Box } from "./data";
import { state } from "./store";
import { count, Part, Picture } from "./ui";

interface Change {
  letter: string; kind: string; status: string; fails: boolean; title: string; detail?: string; trail: string; cell: string; session: string;
  step?: number; text?: string; boxes?: { at: Box; element?: string; kind?: string }[]; approved?: string;
}
interface Told { baselines?: { sentence: string; changes: Change[] } }
/** Places of one change that are shown. */
const PLACES = 3;
const STATUS: Record<string, string> = { new: ", new", proposed: ", new baseline proposed", fixed: ", fixed" };

function Place({ change }: { change: Change }) {
  const { model } = state;
  const session = model.sessions.get(change.session);
  const step = change.step === undefined ? undefined : model.at(session, change.step);
  const now = model.frame(step);
  const marks = (change.boxes ?? []).map(({ at, kind, element }) => ({ at, kind: kind ?? "changed", label: `${kind ?? "changed"}${element ? `: ${element}` : ""}` }));
  const where = `${change.trail} on ${change.cell}${change.step === undefined ? "" : `, step ${change.step} ${change.text ?? ""}`}`;
  return <>
    <p>{session && step ? <a href={`#${model.keyOf(session, step.i)}`}>{where}</a> : where}{change.detail && `: ${change.detail}`}</p>
    {change.approved && now && <div class="sides">
      <figure><figcaption><b>approved</b></figcaption><Picture frame={{ ...now, src: model.fileUrl(change.approved), id: change.approved }} alt={`approved: ${where}`} marks={marks.filter((mark) => mark.kind !== "added")} lazy /></figure>
      <figure><figcaption><b>now</b></figcaption><Picture frame={now} alt={`now: ${where}`} marks={marks.filter((mark) => mark.kind !== "removed")} lazy /></figure>
    </div>}
  </>;
}

export function Baselines() {
  const told = (state.model.comparison as Told | null)?.baselines;
  if (!told?.changes.length) return null;
  const letters = [...new Set(told.changes.map((change) => change.letter))];
  return <Part title="Baselines">
    <p>{told.sentence} <code>packtrain approve</code> accepts what is right.</p>
    {letters.map((letter) => {
      const places = told.changes.filter((change) => change.letter === letter);
      const [first] = places;
      return first && <details open>
        <summary>{first.fails ? "✗" : "·"} <b>{letter}</b> {first.title} <small>({first.kind}{STATUS[first.status] ?? ""})</small></summary>
        {places.slice(0, PLACES).map((change) => <Place change={change} />)}
        {places.length > PLACES && <p class="quiet">and in {count(places.length - PLACES, "more place")}</p>}
      </details>;
    })}
  </Part>;
}
