// Small pieces that every view uses.

import { type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Box, Session, Step } from "./data";
import type { Frame } from "./model";
import { percent } from "./tree";
import { state } from "./store";

export const Sign = ({ mark }: { mark: string }) => <i aria-hidden="true">{state.model.data.marks[mark]?.sign}</i>;
export const word = (mark: string) => state.model.data.marks[mark]?.word ?? mark;
export const Facts = ({ of }: { of: ComponentChildren[] }) => <p class="facts">{of.filter(Boolean).map((fact) => <><span>{fact}</span> </>)}</p>;
export const Part = ({ title, tools, children }: { title: string; tools?: ComponentChildren; children: ComponentChildren }) =>
  <section class="part"><h2>{title}{tools}</h2>{children}</section>;

/** A text in which backticks stand around code and two asterisks around what is bold. */
export function Words({ text }: { text: string }) {
  const codes = text.split("`");
  const bold = (piece: string) => { const parts = piece.split("**"); return parts.length % 2 ? parts.map((p, i) => i % 2 ? <strong>{p}</strong> : p) : piece; };
  return <>{codes.length % 2 ? codes.map((piece, i) => i % 2 ? <code>{piece}</code> : bold(piece)) : bold(text)}</>;
}

export function time(ms: number): string {
  if (ms < 95) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 3600 ? `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s` : `${Math.floor(seconds / 3600)}h ${String(Math.round((seconds % 3600) / 60)).padStart(2, "0")}m`;
}
export const count = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

async function copied(text: string): Promise<boolean> {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* a page opened from a file may not be allowed to */ }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
export function Copy({ text, label, title }: { text: string | (() => string); label: string; title?: string }) {
  const [said, say] = useState("");
  const press = async () => {
    say(await copied(typeof text === "string" ? text : text()) ? "copied" : "select and copy it by hand");
    setTimeout(() => say(""), 1500);
  };
  return <button type="button" class="plain copy" title={title} onClick={() => void press()}><span aria-live="polite">{said || label}</span></button>;
}
export const Command = ({ text }: { text: string }) => <p class="command"><code tabIndex={0}>{text}</code><Copy text={text} label="copy" title="Copy the command" /></p>;

export interface Mark { at: Box; kind: string; label: string }
export const Boxes = ({ marks, width, height }: { marks: Mark[]; width: number; height: number }) => width && height
  ? <>{marks.map((mark, n) => <span class={`box b-${mark.kind}`} style={percent(mark.at, width, height)} title={mark.label}><b>{n + 1}</b></span>)}</> : null;

/** How far down the first box is, in widths of the picture, where only so many widths of it are shown. */
export function windowTop(pictures: { frame: Frame | null; marks: Mark[] }[], window: number): number {
  for (const { frame, marks: [first] } of pictures) {
    if (frame?.width && first) return Math.max(0, Math.min((first.at[1] + first.at[3]) / 2 / frame.width - window / 2, frame.height / frame.width - window));
  }
  return 0;
}
export function Picture({ frame, alt, marks, style, lazy, top = 0 }: { frame: Frame; alt: string; marks?: Mark[]; style?: Record<string, string>; lazy?: boolean; top?: number }) {
  return <span class="picture" style={style}><span class="whole" style={top ? { marginTop: `${-100 * top}%` } : undefined}>
    <img src={frame.src} alt={alt} width={frame.width || undefined} height={frame.height || undefined} loading={lazy ? "lazy" : undefined} decoding="async" />
    {marks && <Boxes marks={marks} width={frame.width} height={frame.height} />}
  </span></span>;
}

/** A step's picture in a strip or on a wall; the picture leads to the step, or enlarges. */
export function Figure({ session, step, caption, href, here, same, marks, enlarge }: { session: Session; step: Step; caption: string; href: string; here?: boolean; same?: boolean; marks?: Mark[]; enlarge?: () => void }) {
  const frame = state.model.frame(step);
  const label = `${caption}: ${word(step.mark)}${same ? ", same as the reference" : ""}`;
  const shot = frame ? <Picture frame={frame} alt="" marks={marks} lazy /> : <span class="none">{step.seen?.picture || step.shots?.length ? "file missing" : "no screenshot"}</span>;
  return <figure class={`${here ? "here " : ""}${same ? "same" : ""}`}>
    {enlarge && frame ? <button type="button" class="shot" aria-label={`Enlarge ${label}`} onClick={enlarge}>{shot}</button>
      : <a class="shot" href={href} aria-label={label} aria-current={here ? "true" : undefined}>{shot}</a>}
    <figcaption class={`m-${step.mark}`}>
      {enlarge ? <a href={href} title={session.device.id} aria-current={here ? "true" : undefined}><Sign mark={step.mark} /> {caption}</a> : <span title={session.device.id}><Sign mark={step.mark} /> {caption}</span>}
      <small>{same ? "same as reference" : step.word ?? word(step.mark)}{step.time ? ` · ${step.time}` : ""}</small>
    </figcaption>
  </figure>;
}
