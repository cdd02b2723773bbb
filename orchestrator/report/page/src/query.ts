// The query box: `locale=de width<400 step:7 !pass "text"`. Every part must hold.

import type { Session, Step } from "./data";
import type { Model } from "./model";

type Test = (model: Model, session: Session, steps: Step[]) => boolean;
export interface Query { text: string; steps: Set<number>; tests: Test[]; texts: string[] }

const words = /(-|!)?([\w.]+)(<=|>=|!=|<|>|=|:)("[^"]*"|\S+)|(-|!)?("[^"]*"?|\S+)/g;
const marks: Record<string, string[]> = { pass: ["passed", "flaky"], passed: ["passed", "flaky"], fail: ["failed"], failed: ["failed"], bad: ["failed", "infrastructure", "needs_agent"] };
const bare = (text: string) => text.replaceAll('"', "").toLowerCase();

export function parse(text: string): Query {
  const query: Query = { text, steps: new Set(), tests: [], texts: [] };
  for (const part of text.matchAll(words)) {
    const [, minus, key, is, value, minusWord, word] = part;
    const not = Boolean(minus ?? minusWord);
    const add = (test: Test) => query.tests.push((m, s, steps) => test(m, s, steps) !== not);
    if (key && is && value !== undefined) {
      const wanted = bare(value);
      if (is === ":" && key === "step") query.steps.add(Number(wanted));
      else if (is === ":" && key === "is") add((_, session, steps) => hasMark(session, steps, marks[wanted] ?? [wanted]));
      else if (is === ":" && key === "cause") add((model, session) => model.causesOf(session.id).some((c) => c.letter.toLowerCase() === wanted));
      else add((model, session) => holds(factOf(model, session, key), is, wanted));
    } else if (word) {
      const wanted = bare(word);
      if (!wanted) continue;
      const known = marks[wanted];
      if (word.startsWith('"')) {
        if (!not) query.texts.push(wanted);
        add((model, session, steps) => session.find.includes(wanted) || steps.some((step) => model.shows(step.seen?.tree, wanted)));
      } else if (known && wanted !== "bad") add((_, session, steps) => hasMark(session, steps, known));
      else add((model, session, steps) => session.find.includes(wanted) || Object.values(model.facts.get(session.id) ?? {}).some((v) => v.toLowerCase().includes(wanted)) || steps.some((step) => model.shows(step.seen?.tree, wanted)));
    }
  }
  return query;
}

/** Whether a session is shown. With `step:` its marks and texts are those of that step. */
export function matches(query: Query, model: Model, session: Session): boolean {
  const all = session.attempts.at(-1)?.steps ?? [];
  const steps = query.steps.size ? all.filter((step) => query.steps.has(step.i)) : all;
  return query.tests.every((test) => test(model, session, steps));
}
/** Whether a step's screen shows a text that is looked for. */
export const isHit = (query: Query, model: Model, step: Step | undefined) => query.texts.some((text) => model.shows(step?.seen?.tree, text));

function hasMark(session: Session, steps: Step[], wanted: string[]) {
  const all = session.attempts.at(-1)?.steps.length ?? 0;
  return steps.length < all ? steps.some((step) => wanted.includes(step.mark)) : wanted.includes(session.mark);
}
function factOf(model: Model, session: Session, key: string) {
  const facts = model.facts.get(session.id) ?? {};
  const name = Object.keys(facts).find((name) => name.toLowerCase() === key.toLowerCase());
  return name === undefined ? undefined : facts[name];
}
function holds(have: string | undefined, is: string, wanted: string): boolean {
  if (have === undefined) return is === "!=";
  const got = have.toLowerCase();
  // `de` finds `de-DE` and `390` finds `390x844`.
  const equal = got === wanted || (got.startsWith(wanted) && /^[-_x./ ]/.test(got.slice(wanted.length)));
  if (is === "=" || is === ":") return equal;
  if (is === "!=") return !equal;
  const [a, b] = [Number.parseFloat(got), Number.parseFloat(wanted)];
  return is === "<" ? a < b : is === "<=" ? a <= b : is === ">" ? a > b : a >= b;
}
