// What the report's file holds, as it was written into it. Texts in it are hostile: they only ever
// become text nodes and attributes that nothing runs.

export type Box = [number, number, number, number];

export interface Shot { p?: number; h?: string }
export interface Seen {
  tree?: string; picture?: string; width: number; height: number; scale: number;
  masked?: Box[]; defects?: string[]; notes?: string[];
}
export interface Said { message: string; hint?: string; at?: string; log?: string[] }
export interface Call {
  depth?: number; tool: string; mark: string; time?: string; args?: unknown; by?: string; matched?: number;
  notes?: string[]; said?: string; answer?: string; via?: string; log?: string;
}
export interface Step {
  i: number; mark: string; word?: string; idle?: boolean; time?: string; at?: number; ms: number; seen?: Seen; said?: Said; calls?: Call[];
  reports?: { level: string; bad?: boolean; text: string; src?: string }[]; more?: number; shots?: Shot[];
  texts?: { label: string; n: number }[]; files?: { path: string; kind: string; size: string }[];
}
export interface Attempt {
  id: string; n: number; mark: string; time: string; bad?: number; from: number; to: number;
  axes?: { axis: string; want: string; got: string; how: string; took_ms: number }[]; steps: Step[];
}
export interface Session {
  id: string; trail: number; device: { label: string; id: string; model: string; system: string; screen: string; driver: string };
  mark: string; word?: string; time: string; cell?: Record<string, string>; find: string;
  said?: Said; attempts: Attempt[];
}
export interface MarkText { key: string; sign: string; word: string }
export interface Problem {
  letter: string; mark: MarkText; what: string; who: string; step: string;
  message: string | null; hint: string | null; href: string; sessions: string; devices: { href: string; name: string }[]; more: number;
}
export interface Trail {
  title: string; path: string; facts: string[]; problems: Problem[];
  notes: { step: string; text: string; who: string; href: string; sessions: string }[];
  steps: { i: number; kind: string; text: string; line: number; spread?: string }[];
}
export interface Data {
  root: string;
  head: { run: string; packtrain: string; headline: string; headline_mark: MarkText; facts: string[]; counts: { mark: MarkText; count: number; word: string }[]; notes: string[] };
  marks: Record<string, { sign: string; word: string }>; trails: Trail[]; sessions: Session[];
  pictures: Record<string, Shot>;
}

export interface Axis { name: string; values: string[]; ordered?: boolean }
export interface Literal { fact: string; is: string; value: string; next?: string }
export interface Occurrence { trail: number; session: number; step: number; attempt?: number; nearest?: number; nearest_step?: number; difference?: number; visual?: number }
export interface Cluster {
  letter: string; kind: string; title: string; detail?: string; also?: string[]; place?: string; trails: number; cells: number[]; everywhere?: boolean;
  occurrences: Occurrence[]; verdict?: string; words: string; explanations?: { all_of: Literal[] }[];
  next?: { command: string }; again?: string;
}
export interface Item { kind: string; role?: string; name?: string; was?: string; is?: string; expected_by?: string; at?: Box }
export interface Difference { trail: number; step: number; session: number; against: number; against_step?: number; items: Item[] }
export interface Visual {
  trail: number; step: number; session: number; against: number; kind: string; shift?: [number, number]; pixels?: number;
  boxes?: { at: Box; pixels?: number; element?: string; kind?: string }[];
}
export interface Comparison {
  settled: number; planned: number; sentence: string; axes?: Axis[]; facts?: Axis[];
  cells?: { id: string; label?: string; device: string; values?: Record<string, string>; facts?: Record<string, string>; reference?: boolean }[];
  sessions?: { session: string; trail: number; cell: number; outcome: string; reference?: number }[];
  clusters?: Cluster[]; conventions?: { text: string; by: string; count: number; items?: string[] }[]; differences?: Difference[]; visual?: Visual[];
  timings?: { trail: number; step: number; session: number; ms: number; median_ms: number }[];
  expected?: { axis: string; kind: string; count: number }[]; expectations?: { text: string; hits: number }[];
  noise?: { trail: number; step: number; cell: number; boxes: Box[] }[]; not_compared?: { session: number; why: string }[];
}

export interface TreeNode { d: number; r: string; n?: string; v?: string; i?: string; s?: string[]; b?: Box }
export interface Tree { width: number; height: number; title?: string; location?: string; nodes: TreeNode[] }
export interface Words { texts: string[]; trees: Record<string, number[]> }

/** The text of a `<script>` of the page; nothing when there is none. */
export const kept = (id: string): string | null => document.getElementById(id)?.textContent ?? null;
