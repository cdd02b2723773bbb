// The report as Markdown, for an issue or a chat.

import type { Cluster, Difference, Session, Step, Visual } from "./data";
import { state } from "./store";
import { itemWords, visualWords } from "./pair";

/** A foreign text on one line, with what Markdown would take for markup made plain. */
const plain = (text: string) => text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>|#]/g, "\\$&");
const where = (cluster: Cluster) => {
  const [first] = cluster.occurrences;
  const trail = first && state.model.data.trails[first.trail];
  return first && trail ? `${plain(trail.title)}, step ${first.step}: ${plain(state.model.stepText(first.trail, first.step).text)}` : "";
};
export const clusterMarkdown = (cluster: Cluster) => [
  `**${cluster.letter}: ${plain(cluster.title)}**${cluster.place ? `, ${plain(cluster.place)}` : ""} (${cluster.kind}, ${cluster.cells.length} ${cluster.cells.length === 1 ? "cell" : "cells"})`,
  where(cluster), cluster.words, cluster.detail ? `> ${plain(cluster.detail)}` : "", cluster.again ? `\`\`\`sh\n${cluster.again}\n\`\`\`` : "",
].filter(Boolean).join("\n\n");

export function reportMarkdown(): string {
  const { data, comparison } = state.model;
  const lines = [`# ${plain(comparison.sentence)}`, data.head.facts.map(plain).join(" · ")];
  for (const cluster of comparison.clusters ?? []) lines.push(`## ${cluster.letter}`, clusterMarkdown(cluster));
  for (const trail of data.trails) for (const p of trail.problems) if (!p.letter) lines.push(`**${p.mark.sign} ${plain(p.what)}** ${plain(p.who)} (${plain(trail.title)})`, p.message ? `> ${plain(p.message)}` : "");
  lines.push(`| outcome | sessions |\n|---|---|\n${data.head.counts.map((c) => `| ${c.mark.sign} ${c.word} | ${c.count} |`).join("\n")}`);
  return `${lines.filter(Boolean).join("\n\n")}\n`;
}
export function pairMarkdown(pair: { session: Session; against: Session; step: Step; difference?: Difference; visual?: Visual }): string {
  const text = state.model.stepText(pair.session.trail, pair.step.i);
  return [
    `**${text.label} ${plain(text.text)}**: ${plain(state.model.name(pair.session))} compared with ${plain(state.model.name(pair.against))}`,
    pair.step.said ? `> ${plain(pair.step.said.message)}` : "",
    [...(pair.visual ? [visualWords(pair.visual)] : []), ...(pair.difference?.items ?? []).map((i) => itemWords(i) + (i.expected_by ? ` (expected: ${i.expected_by})` : ""))].map((t) => `- ${plain(t)}`).join("\n"),
  ].filter(Boolean).join("\n\n");
}
