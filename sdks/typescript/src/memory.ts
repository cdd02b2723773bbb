/** What a call changed in the trail's memory; goes back as `_meta.trailblaze` of its result. */
export interface MemoryChanges {
  memoryDelta?: Record<string, string>;
  memoryDeletions?: string[];
}

/** What the trail remembers, as texts. Changes are applied when the tool passes. */
export class Memory {
  readonly #values: Map<string, string>;
  readonly #set = new Map<string, string>();
  readonly #deleted = new Set<string>();

  constructor(values: Record<string, string> = {}) {
    this.#values = new Map(Object.entries(values));
  }

  /** The text under a name. Secrets are never here. */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Whether there is a text under a name. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The names. */
  keys(): string[] {
    return [...this.#values.keys()];
  }

  /** Remembers a text. */
  set(name: string, value: string): void {
    if (typeof value !== "string") {
      throw new TypeError(`memory holds texts, and \`${name}\` is ${value === null ? "null" : typeof value}; use setJson`);
    }
    this.#values.set(name, value);
    this.#set.set(name, value);
    this.#deleted.delete(name);
  }

  /** Forgets a name; one that is not shown here, as a secret, too. */
  delete(name: string): void {
    this.#values.delete(name);
    this.#set.delete(name);
    this.#deleted.add(name);
  }

  /** The value that {@link setJson} remembered. Throws a `SyntaxError` for a text that is not JSON. */
  getJson<T = unknown>(name: string): T | undefined {
    const text = this.get(name);
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }

  /** Remembers a value as JSON. */
  setJson(name: string, value: unknown): void {
    this.set(name, JSON.stringify(value));
  }

  /** What has changed, or `undefined` for nothing. */
  changes(): MemoryChanges | undefined {
    const changes: MemoryChanges = {};
    if (this.#set.size) changes.memoryDelta = Object.fromEntries(this.#set);
    if (this.#deleted.size) changes.memoryDeletions = [...this.#deleted];
    return this.#set.size || this.#deleted.size ? changes : undefined;
  }

  /** The result with what has changed in its `_meta`. `run()` does it; servers of the MCP SDK call it. */
  addTo<R extends { _meta?: Record<string, unknown> }>(result: R): R {
    const changes = this.changes();
    if (!changes) return result;
    const trailblaze = { ...(result._meta?.trailblaze as object | undefined), ...changes };
    return { ...result, _meta: { ...result._meta, trailblaze } };
  }

  /** The texts as an object. */
  toJSON(): Record<string, string> {
    return Object.fromEntries(this.#values);
  }
}
