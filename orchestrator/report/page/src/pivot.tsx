// The cells of the matrix folded onto two axes or more: where it is red, and along which axis.

import type { Axis } from "./data";
import type { Model } from "./model";
import { ask, redraw, state } from "./store";
import { Sign } from "./ui";

const FROM_CELLS = 12;

/** Axes that vary, those of the matrix first. */
export function axes(model: Model): Axis[] {
  const all = [...(model.comparison.axes ?? []), ...(model.comparison.facts ?? [])];
  return all.filter((axis, at) => axis.values.length > 1 && all.findIndex((a) => a.name === axis.name) === at);
}
/** What explains most comes first: an axis for the rows, the next for the columns. */
function preselected(model: Model) {
  const known = axes(model).map((a) => a.name);
  const told = (model.comparison.clusters ?? []).flatMap((c) => (c.explanations ?? []).flatMap((e) => e.all_of.map((l) => l.fact)));
  const [rows, columns] = [...new Set([...told, ...known])].filter((name) => known.includes(name));
  return { rows: rows ? [rows] : [], columns: columns ? [columns] : [] };
}
const pick = (model: Model) => state.pivot ??= preselected(model);

interface Head { values: string[] }
function heads(model: Model, names: string[]): Head[] {
  return names.reduce<Head[]>((all, name) => {
    const values = axes(model).find((a) => a.name === name)?.values ?? [];
    return all.flatMap((head) => values.map((value) => ({ values: [...head.values, value] })));
  }, [{ values: [] }]);
}

export function Pivot() {
  const { model } = state;
  if ((model.comparison.cells?.length ?? 0) < FROM_CELLS || axes(model).length < 2) return null;
  const chosen = pick(model);
  const names = axes(model).map((a) => a.name);
  const [rows, columns] = [heads(model, chosen.rows), heads(model, chosen.columns)];
  const sessions = model.data.sessions.filter((s) => state.shown.has(s.id));
  const at = (row: Head, column: Head) => sessions.filter((s) => {
    const facts = model.facts.get(s.id) ?? {};
    return chosen.rows.every((name, i) => facts[name] === row.values[i]) && chosen.columns.every((name, i) => facts[name] === column.values[i]);
  });
  const choose = (which: "rows" | "columns", n: number, label: string) => <label>{label} <select value={chosen[which][n] ?? ""} onChange={(e) => {
    const name = e.currentTarget.value;
    const other = which === "rows" ? "columns" : "rows";
    const mine = [...chosen[which]];
    if (name) mine[n] = name; else mine.splice(n, 1);
    state.pivot = { ...chosen, [which]: mine.filter((m, i) => m && mine.indexOf(m) === i), [other]: chosen[other].filter((o) => o !== name) } as typeof chosen;
    redraw();
  }}><option value="">none</option>{names.map((name) => <option value={name}>{name}</option>)}</select></label>;
  const query = (row: Head, column: Head) => [...chosen.rows.map((n, i) => [n, row.values[i]]), ...chosen.columns.map((n, i) => [n, column.values[i]])]
    .map(([name, value]) => `${name}=${/\s/.test(value ?? "") ? `"${value}"` : value}`).join(" ");
  return <section class="block" id="pivot">
    <h2>Cells by axis</h2>
    <p class="choice">{choose("rows", 0, "rows")}{choose("rows", 1, "and")}{choose("columns", 0, "columns")}{choose("columns", 1, "and")}</p>
    <div class="scroll"><table class="pivot">
      <thead><tr><th scope="col" class="corner">{chosen.rows.join(" × ") || "all"} <span aria-hidden="true">↓</span> {chosen.columns.join(" × ")} <span aria-hidden="true">→</span></th>{columns.map((c) => <th scope="col">{c.values.map((v) => <span>{v}</span>)}</th>)}</tr></thead>
      <tbody>{rows.map((row) => <tr><th scope="row">{row.values.map((v) => <span>{v}</span>)}</th>{columns.map((column) => {
        const here = at(row, column);
        if (!here.length) return <td class="empty"><span class="unseen">no cell</span></td>;
        const bad = here.filter((s) => s.mark !== "passed" && s.mark !== "flaky" && s.mark !== "skipped");
        const mark = bad[0]?.mark ?? (here.some((s) => s.mark === "flaky") ? "flaky" : here.every((s) => s.mark === "skipped") ? "skipped" : "passed");
        const letters = [...new Set(here.flatMap((s) => model.causesOf(s.id)).map((c) => c.letter))].sort();
        const share = bad.length / here.length;
        return <td><button type="button" class={`m-${mark}`} style={{ "--share": String(Math.round(share * 100)) }} title={`${here.length - bad.length} of ${here.length} passed; show only these`} onClick={() => ask(query(row, column))}>
          <Sign mark={mark} /> <b>{bad.length ? `${bad.length} of ${here.length}` : here.length}</b>{letters.length > 0 && <span class="ls">{letters.slice(0, 4).map((l) => <b class="l">{l}</b>)}{letters.length > 4 && "…"}</span>}
        </button></td>;
      })}</tr>)}</tbody>
    </table></div>
  </section>;
}
