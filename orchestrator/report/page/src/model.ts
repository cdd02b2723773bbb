// The run, indexed: which screens belong together, what differs between them, where pictures are.

import { type Attempt, type Cluster, type Comparison, type Data, type Difference, kept, type Occurrence, type Seen, type Session, type Shot, type Step, type Tree, type Visual, type Words } from "./data";

/** How bad a mark is: 0 is the worst. */
export const rank = (mark: string) => ["failed", "infrastructure", "needs_agent", "unfinished", "cancelled", "flaky", "not_run", "skipped", "passed"].indexOf(mark);

/** A step of an attempt of a session. */
export interface Place { session: Session; attempt: Attempt | undefined; step: Step | undefined; key: string }
export interface Frame { src: string; width: number; height: number; seen?: Seen; id: string }
/** A cause as it is shown: a cluster of the comparison. */
export interface Found { cluster: Cluster; occurrence: Occurrence }

export class Model {
  readonly sessions = new Map<string, Session>();
  /** Facts of a session's cell: its axes, and what follows from them. */
  readonly facts = new Map<string, Record<string, string>>();
  readonly order: number[][];
  private readonly found = new Map<string, Found[]>();
  private readonly differences = new Map<string, Difference>();
  private readonly visuals = new Map<string, Visual>();
  private readonly nearestAt = new Map<string, string>();
  private readonly stepsThere = new Map<string, number>();
  private readonly compared = new Map<string, number>();

  /** `texts` and `words` are given where the file has none as new as the data. */
  constructor(readonly data: Data, readonly comparison: Comparison, private readonly texts?: string[], words?: Words) {
    this.wordsKept = words;
    this.order = data.trails.map((_, trail) => data.sessions.flatMap((s, place) => s.trail === trail ? [place] : [])
      .sort((a, b) => rank(data.sessions[a]?.mark ?? "") - rank(data.sessions[b]?.mark ?? "")));
    for (const session of data.sessions) {
      this.sessions.set(session.id, session);
      this.facts.set(session.id, { device: session.device.id, model: session.device.model, platform: session.device.id.split("/")[0] ?? "", ...session.cell });
    }
    const id = (place: number | undefined) => place === undefined ? undefined : comparison.sessions?.[place]?.session;
    comparison.sessions?.forEach((session, place) => {
      this.compared.set(session.session, place);
      const cell = comparison.cells?.[session.cell];
      const known = this.facts.get(session.session);
      if (cell && known) Object.assign(known, cell.facts, cell.values);
    });
    for (const cluster of comparison.clusters ?? []) {
      for (const occurrence of cluster.occurrences) {
        const key = `${id(occurrence.session)}-${occurrence.step}`;
        this.found.set(key, [...(this.found.get(key) ?? []), { cluster, occurrence }]);
        const nearest = id(occurrence.nearest);
        if (nearest && !this.nearestAt.has(key)) this.nearestAt.set(key, nearest);
        if (nearest && occurrence.nearest_step !== undefined) this.stepsThere.set(pair(id(occurrence.session), occurrence.step, nearest), occurrence.nearest_step);
      }
    }
    for (const one of comparison.differences ?? []) if (one.against_step !== undefined) this.stepsThere.set(pair(id(one.session), one.step, id(one.against)), one.against_step);
    for (const difference of comparison.differences ?? []) this.differences.set(pair(id(difference.session), difference.step, id(difference.against)), difference);
    for (const visual of comparison.visual ?? []) this.visuals.set(pair(id(visual.session), visual.step, id(visual.against)), visual);
  }

  /** What a person calls it: `desktop, dark`. */
  name = (session: Session): string => session.device.label;
  /** What an address names: `s3`, `s3-4`, `s3.2-4`. */
  place(key: string): Place | null {
    const parts = /^(s\d+)(?:\.\d+)?(?:-(\d+))?$/.exec(key);
    const session = parts?.[1] ? this.sessions.get(parts[1]) : undefined;
    if (!parts || !session) return null;
    if (parts[2] === undefined) return { session, attempt: session.attempts.at(-1), step: undefined, key: session.id };
    const id = key.slice(0, key.lastIndexOf("-"));
    const attempt = session.attempts.find((a) => a.id === id) ?? session.attempts.at(-1);
    const step = attempt?.steps.find((s) => s.i === Number(parts[2]));
    return step && attempt ? { session, attempt, step, key: `${attempt.id}-${step.i}` } : null;
  }
  /** The same step in the attempt of a session that counts. */
  at(session: Session | undefined, step: number): Step | undefined {
    return session?.attempts.at(-1)?.steps.find((s) => s.i === step);
  }
  keyOf(session: Session, step: number, attempt?: number): string {
    const shown = session.attempts.find((a) => a.n === attempt) ?? session.attempts.at(-1);
    return shown ? `${shown.id}-${step}` : session.id;
  }
  /** Where an occurrence of a cause is to be seen: in its own attempt. */
  keyAt(occurrence: Occurrence): string {
    const session = this.byPlace(occurrence.session);
    return session ? this.keyOf(session, occurrence.step, occurrence.attempt) : "";
  }
  /** At which step another session shows what this one shows at a step. */
  stepThere = (session: string, step: number, against: string): number => this.stepsThere.get(pair(session, step, against)) ?? step;
  stepText(trail: number, i: number) {
    const known = this.data.trails[trail]?.steps.find((s) => s.i === i);
    return { label: i === 0 ? "Trailhead" : String(i), text: known?.text ?? "", kind: known?.kind ?? "step", line: known?.line };
  }
  byPlace = (place: number | undefined): Session | undefined => {
    const id = place === undefined ? undefined : this.comparison.sessions?.[place]?.session;
    return id ? this.sessions.get(id) : undefined;
  };
  causesAt = (session: string, step: number): Found[] => this.found.get(`${session}-${step}`) ?? [];
  causesOf(session: string): Cluster[] {
    const place = this.compared.get(session);
    return (this.comparison.clusters ?? []).filter((c) => c.occurrences.some((o) => o.session === place));
  }
  difference = (session: string, step: number, against: string) => this.differences.get(pair(session, step, against));
  visual = (session: string, step: number, against: string) => this.visuals.get(pair(session, step, against));

  /** The nearest session that passed this step. */
  nearest(session: Session, step: number): Session | undefined {
    const known = this.nearestAt.get(`${session.id}-${step}`) ?? this.referenceOf(session)?.id;
    if (known && known !== session.id) return this.sessions.get(known);
    const platform = session.device.id.split("/")[0];
    const passed = this.data.sessions.filter((s) => s.trail === session.trail && s !== session && (s.mark === "passed" || s.mark === "flaky"));
    return passed.find((s) => s.device.id.split("/")[0] === platform) ?? passed[0];
  }
  /** The session that others are compared with first. */
  referenceOf(session: Session): Session | undefined {
    const place = this.compared.get(session.id);
    return this.byPlace(place === undefined ? undefined : this.comparison.sessions?.[place]?.reference);
  }

  // ---- Pictures and trees: made when somebody looks at them, kept once each ----
  private readonly urls = new Map<number, string>();
  private readonly trees = new Map<string, Tree | null>();
  private wordsKept: Words | undefined;
  /** The screen or the log of a step that went wrong. */
  text = (n: number): string => this.texts ? this.texts[n] ?? "" : JSON.parse(kept(`text-${n}`) ?? '""') as string;
  src(shot: Shot | undefined): string | null {
    if (!shot) return null;
    if (shot.p === undefined) return shot.h === undefined ? null : this.fileUrl(shot.h);
    let url = this.urls.get(shot.p);
    if (!url) {
      const [head, body] = (kept(`picture-${shot.p}`) ?? "").split(",", 2);
      const bytes = Uint8Array.from(atob(body ?? ""), (c) => c.charCodeAt(0));
      url = URL.createObjectURL(new Blob([bytes], { type: head?.slice(5).split(";")[0] ?? "" }));
      this.urls.set(shot.p, url);
    }
    return url;
  }
  /** A link to a file of the run; each part of its path is encoded. */
  fileUrl = (path: string): string => this.data.root + path.split("/").map(encodeURIComponent).join("/");
  frame(step: Step | undefined): Frame | null {
    const seen = step?.seen;
    const observed = seen?.picture ? this.src(this.data.pictures[seen.picture]) : null;
    if (seen?.picture && observed) return { src: observed, width: seen.width, height: seen.height, seen, id: seen.picture };
    const shot = step?.shots?.at(-1);
    const src = this.src(shot);
    return src ? { src, width: 0, height: 0, id: shot?.p === undefined ? (shot?.h ?? "") : `p${shot.p}` } : null;
  }
  tree(digest: string | undefined, redraw: () => void): Tree | null {
    if (!digest) return null;
    if (!this.trees.has(digest)) {
      const text = document.querySelector(`script[data-tree="${CSS.escape(digest)}"]`)?.textContent;
      this.trees.set(digest, text ? JSON.parse(text) as Tree : null);
      // A page that is served can ask for what its file would hold.
      if (!text && isLive()) {
        const path = this.fileUrl(`trees/${digest}.json`);
        void fetch(path).then((answer) => answer.json()).then((tree: Tree) => { this.trees.set(digest, tree); redraw(); }, () => {});
      }
    }
    return this.trees.get(digest) ?? null;
  }
  /** Whether a screen shows a text; given in lower case. */
  shows(digest: string | undefined, text: string): boolean {
    this.wordsKept ??= JSON.parse(kept("words") ?? '{"texts":[],"trees":{}}') as Words;
    const { texts, trees } = this.wordsKept;
    return digest !== undefined && (trees[digest] ?? []).some((place) => texts[place]?.includes(text));
  }
  adopt(old: Model) {
    for (const [n, url] of old.urls) this.urls.set(n, url);
    for (const [digest, tree] of old.trees) if (tree) this.trees.set(digest, tree);
  }
}

const pair = (session: string | undefined, step: number, against: string | undefined) => `${session}-${step}/${against}`;
export const liveAddress = () => document.querySelector<HTMLMetaElement>('meta[name="packtrain-live"]')?.content;
const isLive = () => liveAddress() !== undefined;
