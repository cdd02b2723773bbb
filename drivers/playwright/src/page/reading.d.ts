/** Playwright's own tree of a page. */
interface AriaNode {
  role: string; name: string; children: (AriaNode | string)[]; props: Record<string, string>;
  checked?: boolean | 'mixed'; disabled?: boolean; expanded?: boolean; invalid?: boolean | string; level?: number;
  pressed?: boolean | 'mixed'; selected?: boolean;
}

/** What is used of Playwright's script in a page. */
interface Injected {
  utils: {
    generateAriaTree(root: Element, options: { mode: string }): { root: AriaNode };
    getAriaRole(element: Element): string | null;
    getElementAccessibleNameText(element: Element, includeHidden: boolean): string;
    normalizeWhiteSpace(text: string): string;
    /** Those of the browser, whatever the page's clock does. */
    builtins: { performance: Performance; setTimeout(then: () => void, ms: number): unknown; requestAnimationFrame(then: () => void): unknown };
  };
  parseSelector(selector: string): object;
  querySelectorAll(selector: object, root: Node): Element[];
  retarget(node: Node, behaviour: string): Element | null;
  elementState(node: Node, state: string, frameVisible: boolean): { matches: boolean };
  fill(node: Node, value: string): string;
  selectOptions(node: Node, options: object[]): string | string[];
  /** A description of what is hit instead, or what checks each event until it is stopped. */
  setupHitTargetInterceptor(node: Node, action: string, at: { x: number; y: number }, blocksAll: boolean): string | { stop(): string | object };
}

/** An action that is asked for. */
interface Act {
  do: 'click' | 'hover' | 'fill' | 'selectOption';
  selector: string;
  /** Milliseconds after which it is no longer waited for. */
  limit: number;
  /** Milliseconds since 1970 after which nobody waits for the answer. */
  until: number;
  /** Nothing has been done since the last look. */
  rests: boolean;
  value?: string;
  options?: object[];
}

/** A look that is asked for. */
interface Look {
  /** Whether a picture follows. */
  picture: boolean;
  /** What the reading is to have. */
  wanted: Extract<Question, { do: 'read' }>;
  quiet: number;
  limit: number;
  foresees: boolean;
}

interface Rest { still: boolean; foreseen: boolean; animated: boolean; settled: number; moves: number }

type LaneScript = (script: () => Injected, read: (asked: any) => object, still: (asked: object) => Promise<Rest>) => object;

interface Element { scrollIntoViewIfNeeded(centred: boolean): void }

interface Box { left: number; top: number; right: number; bottom: number }

/** A line of the tree. Short keys: a page has thousands. */
interface Row {
  /** Depth, from 0. */
  d: number;
  role: string;
  name?: string;
  text?: string;
  level?: number;
  states?: string[];
  /** Left, top, width, height. */
  box?: number[];
  /** Its number in the list; 0 where it is listed and numbers are not asked for. */
  e?: number;
  /** The frame that it shows. */
  f?: number;
  /** A CSS path. */
  css?: string;
  /** Why what it shows cannot be read. */
  unread?: string;
}

type Question =
  | { do: 'read'; boxes?: boolean; css?: boolean; number?: number; masks?: string[]; layout?: boolean }
  | { do: 'frames' }
  | { do: 'who'; number: number; next: number }
  | { do: 'called'; role: string; name: string; next: number }
  | { do: 'why' }
  | { do: 'open' }
  | { do: 'shows'; text: string; whole: boolean; anyCase: boolean; pattern: string | null };

interface Hidden { element: string; why: string; behind?: string }

type Layout = (page: { elements: Element[]; told: (element: Element) => string; parentOf: (element: Element) => Element | null }) => object[];
