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
  };
}

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
  | { do: 'shows'; text: string; whole: boolean; anyCase: boolean; pattern: string | null };

interface Hidden { element: string; why: string; behind?: string }

type Layout = (page: { elements: Element[]; told: (element: Element) => string; parentOf: (element: Element) => Element | null }) => object[];
