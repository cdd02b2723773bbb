// Two screens as trees, line beside line: what is equal is found by the longest common subsequence
// of roles and names, what is left is paired by its role.

import type { Box, Tree, TreeNode } from "./data";

export interface Row { left: TreeNode | null; right: TreeNode | null; kind: "same" | "changed" | "removed" | "added" }

export const words = (node: TreeNode): string =>
  [node.r, node.n ? `"${node.n}"` : "", node.v === undefined ? "" : `= "${node.v}"`, node.s?.length ? `(${node.s.join(", ")})` : ""].filter(Boolean).join(" ");
const key = (node: TreeNode) => `${node.r}\0${node.n ?? ""}`;
const whole = (node: TreeNode) => words(node);

export function align(left: Tree, right: Tree): Row[] {
  const [a, b] = [left.nodes, right.nodes];
  const [ka, kb] = [a.map(key), b.map(key)];
  let start = 0;
  while (start < a.length && start < b.length && ka[start] === kb[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && ka[a.length - 1 - end] === kb[b.length - 1 - end]) end++;
  const rows: Row[] = [];
  const same = (i: number, j: number) => {
    const [l, r] = [a[i], b[j]];
    if (l && r) rows.push({ left: l, right: r, kind: whole(l) === whole(r) ? "same" : "changed" });
  };
  for (let i = 0; i < start; i++) same(i, i);
  const [n, m] = [a.length - start - end, b.length - start - end];
  // Lengths of common subsequences of what remains, from the end.
  const wide = m + 1;
  const table = n * m > 4_000_000 ? null : new Uint16Array((n + 1) * wide);
  if (table) {
    for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) {
      table[i * wide + j] = ka[start + i] === kb[start + j] ? (table[(i + 1) * wide + j + 1] ?? 0) + 1
        : Math.max(table[(i + 1) * wide + j] ?? 0, table[i * wide + j + 1] ?? 0);
    }
  }
  let [i, j] = [0, 0];
  let [gone, come]: [TreeNode[], TreeNode[]] = [[], []];
  const flush = () => { rows.push(...paired(gone, come)); gone = []; come = []; };
  while (i < n || j < m) {
    const [l, r] = [a[start + i], b[start + j]];
    if (i < n && j < m && ka[start + i] === kb[start + j]) { flush(); same(start + i++, start + j++); }
    else if (j >= m || (i < n && (!table || (table[(i + 1) * wide + j] ?? 0) >= (table[i * wide + j + 1] ?? 0)))) { if (l) gone.push(l); i++; }
    else { if (r) come.push(r); j++; }
  }
  flush();
  for (let k = end; k > 0; k--) same(a.length - k, b.length - k);
  return rows;
}

/** What went and what came between two equal lines: those of one role, in their order, are one line. */
function paired(gone: TreeNode[], come: TreeNode[]): Row[] {
  const rows: Row[] = [];
  let next = 0;
  for (const left of gone) {
    const place = come.findIndex((node, at) => at >= next && node.r === left.r);
    if (place < 0) { rows.push({ left, right: null, kind: "removed" }); continue; }
    for (; next < place; next++) rows.push({ left: null, right: come[next] ?? null, kind: "added" });
    rows.push({ left, right: come[place] ?? null, kind: "changed" });
    next = place + 1;
  }
  for (; next < come.length; next++) rows.push({ left: null, right: come[next] ?? null, kind: "added" });
  return rows;
}

/** The lines to show: changed ones with so many lines around them; a number stands for lines left out. */
export function folded(rows: Row[], around: number): (Row | number)[] {
  const keep = rows.map(() => false);
  rows.forEach((row, at) => { if (row.kind !== "same") for (let k = at - around; k <= at + around; k++) if (k >= 0 && k < keep.length) keep[k] = true; });
  const shown: (Row | number)[] = [];
  rows.forEach((row, at) => {
    const last = shown.at(-1);
    if (keep[at]) shown.push(row);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  });
  return shown;
}

/** A rectangle as a part of its picture, in percent. */
export function percent(at: Box, width: number, height: number) {
  const clamp = (value: number) => Math.max(0, Math.min(100, value * 100));
  const [l, t, r, b] = [clamp(at[0] / width), clamp(at[1] / height), clamp(at[2] / width), clamp(at[3] / height)];
  return { left: `${l}%`, top: `${t}%`, width: `${Math.max(0.4, r - l)}%`, height: `${Math.max(0.4, b - t)}%` };
}
