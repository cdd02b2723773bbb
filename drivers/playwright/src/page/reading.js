// @ts-check
/// <reference path="./reading.d.ts" />
// What is on a page, told to whoever asks: a selector engine that lives in Playwright's own world of a
// document, where the page's scripts reach neither it nor what it uses. Roles, names and states are those
// of Playwright's ARIA snapshot, whose code is taken as it stands there.
//
// A selector engine answers with elements. What is no element is the text of one that is in no document.
/** @param {Layout} layout @param {LaneScript} lane @param {(asked: object) => Promise<Rest>} still */
(layout, lane, still) => {
  const MOST_ROWS = 20_000;
  const MOST_NUMBERS = 20_000;
  const MOST_HIDDEN = 200;
  const MOST_LOOKED_AT = 4_000;
  const LONGEST_NAME = 900;
  const TOLD_WHEN_HIDDEN = 'a[href], button, input:not([type=hidden]), select, textarea, summary, h1, h2, h3, h4, h5, h6, img, [role]';
  /** Always listed. */
  const INTERACTIVE = new Set(['button', 'link', 'textbox', 'combobox', 'searchbox', 'checkbox', 'radio', 'switch', 'tab', 'menuitem',
    'option', 'slider', 'spinbutton']);
  const UNLISTED = new Set(['text', 'document', 'generic', 'none', 'presentation', 'iframe']);

  // Playwright makes its script and, within that, its engines. A moment later it sets this of itself.
  /** @type {Injected} */
  let injected;
  const SET_LAST = '_stableRafCount';
  /** @this {any} @param {unknown} value */
  const take = function(value) {
    Reflect.deleteProperty(Object.prototype, SET_LAST);
    Object.defineProperty(this, SET_LAST, { value, configurable: true, enumerable: true, writable: true });
    injected = this;
  };
  // In the page's own world, where nothing is asked, a page may have frozen it.
  if (Object.isExtensible(Object.prototype)) Object.defineProperty(Object.prototype, SET_LAST, { configurable: true, set: take });

  /** @type {(node: AriaNode) => Element | undefined} */
  const elementOf = node => /** @type {any} */ (node)[/** @type {symbol} */ (Object.getOwnPropertySymbols(node).find(key => key.description === 'element'))];
  // A form's fields hide what their names are of the form itself.
  const property = (/** @type {object} */ of, /** @type {string} */ name) => {
    const { get } = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(of, name));
    return (/** @type {Node} */ node) => get?.call(node);
  };
  /** @type {(node: Node) => Node | null} */
  const parentNode = property(Node.prototype, 'parentNode');
  /** @type {(node: Node) => Element | null} */
  const parentElement = property(Node.prototype, 'parentElement');
  /** @type {(node: Node) => Element | null} */
  const previous = property(Element.prototype, 'previousElementSibling');
  /** @type {(node: Node) => Element | null} */
  const next = property(Element.prototype, 'nextElementSibling');
  /** @type {(node: Node) => Element | null} */
  const first = property(Element.prototype, 'firstElementChild');
  /** @type {(element: Element) => Element | null} */
  const parentOf = element => {
    const root = Node.prototype.getRootNode.call(element);
    return element.assignedSlot ?? parentElement(element) ?? (root instanceof ShadowRoot ? root.host : null);
  };
  /** @type {(element: Element) => string} */
  const roleOf = element => injected.utils.getAriaRole(element) ?? '';
  /** @type {(element: Element, hidden?: boolean) => string} */
  const nameOf = (element, hidden = false) => injected.utils.normalizeWhiteSpace(injected.utils.getElementAccessibleNameText(element, hidden) ?? '');
  /** What people call an element: its role and its name, or what it says. @type {(element: Element) => string} */
  const told = element => {
    const name = nameOf(element) || injected.utils.normalizeWhiteSpace(/** @type {HTMLElement} */ (element).innerText ?? '');
    const role = roleOf(element) || 'text';
    // Nothing is cut here: of a secret that is cut, nobody knows what is left.
    return name && name.length <= LONGEST_NAME ? `${role} ${JSON.stringify(name)}` : role;
  };

  // Numbers name elements as they were called when they were numbered.
  /** @type {Map<number, { element: WeakRef<Element>, role: string, name: string, above: WeakRef<Node> | null, before: WeakRef<Element> | null }>} */
  const numbered = new Map();
  /** @type {WeakMap<Element, number>} */
  const numbers = new WeakMap();
  /** @type {(element: Element, role: string, name: string, next: () => number) => number} */
  const number = (element, role, name, next) => {
    const known = numbers.get(element);
    const was = known === undefined ? undefined : numbered.get(known);
    if (known !== undefined && was?.role === role && was.name === name) return known;
    const fresh = next();
    numbers.set(element, fresh);
    const [above, before] = [parentNode(element), previous(element)];
    numbered.set(fresh, { element: new WeakRef(element), role, name, above: above && new WeakRef(above), before: before && new WeakRef(before) });
    if (numbered.size > MOST_NUMBERS) numbered.delete(/** @type {number} */ (numbered.keys().next().value));
    return fresh;
  };

  // Readings are told apart, also those of different documents.
  let last = Math.floor(Math.random() * 2 ** 30);
  // What the last reading read, for its rows to be found again: `#3.17`.
  /** @type {{ serial: number, rows: { element: WeakRef<Element>, role: string, name: string, text?: string }[] }} */
  let held = { serial: 0, rows: [] };
  // Frames have names of their own, which hold as long as they do.
  /** @type {WeakMap<Element, number>} */
  const frames = new WeakMap();
  /** @type {Map<number, WeakRef<Element>>} */
  const framed = new Map();
  /** @type {(element: Element) => number} */
  const frame = element => {
    const known = frames.get(element);
    if (known) return known;
    const fresh = framed.size + 1;
    frames.set(element, fresh);
    framed.set(fresh, new WeakRef(element));
    return fresh;
  };

  /** @type {(node: AriaNode) => string[]} */
  const states = node => {
    const found = [];
    for (const state of /** @type {const} */ (['checked', 'disabled', 'expanded', 'invalid', 'pressed', 'selected'])) {
      const value = node[state];
      if (value) found.push(value === true ? state : `${state}=${value}`);
    }
    return found;
  };
  /** The smallest element that holds a text. @type {(within: Element, text: string) => Element} */
  const holder = (within, text) => {
    const says = (/** @type {Node} */ node) => injected.utils.normalizeWhiteSpace(node.textContent ?? '').includes(text);
    let found = within;
    for (;;) {
      const inner = [...found.querySelectorAll(':scope > *'), ...found.shadowRoot?.children ?? []].find(says);
      if (!inner) return found;
      found = inner;
    }
  };
  /** A CSS path of an element within its document or shadow tree. @type {(element: Element) => string} */
  const pathOf = element => {
    const parts = [];
    for (let e = /** @type {Element | null} */ (element); e; e = parentElement(e)) {
      if (e.id) { parts.unshift(`#${CSS.escape(e.id)}`); break; }
      const tag = e.tagName;
      let [place, alike] = [1, false];
      for (let e2 = previous(e); e2; e2 = previous(e2)) if (e2.tagName === tag) place += 1;
      for (let e2 = next(e); e2 && !alike; e2 = next(e2)) alike = e2.tagName === tag;
      parts.unshift(tag.toLowerCase() + (place > 1 || alike ? `:nth-of-type(${place})` : ''));
    }
    return parts.join(' > ');
  };
  // A shadow tree that is closed shows to no script. Its host takes room, and shows nothing of its own.
  /** @type {(element: Element) => boolean} */
  const isClosed = element => element.localName.includes('-') && !element.shadowRoot &&
    ![...element.children].some(child => child.getClientRects().length) && !element.textContent?.trim() &&
    element.getClientRects().length > 0 && element.getBoundingClientRect().width > 0 && element.getBoundingClientRect().height > 0;

  // What shows a document and is no frame.
  /** @type {(element: Element) => boolean} */
  const isEmbedded = element => (element instanceof HTMLObjectElement ? element.contentWindow !== null : element instanceof HTMLEmbedElement) &&
    element.checkVisibility() && element.getClientRects().length > 0;

  /** @type {(root: ParentNode, most: number) => Element[]} */
  const all = (root, most) => {
    /** @type {Element[]} */
    const found = [];
    const collect = (/** @type {ParentNode} */ from) => {
      for (const element of from.querySelectorAll('*')) {
        if (found.length === most) return;
        found.push(element);
        if (element.shadowRoot) collect(element.shadowRoot);
      }
    };
    collect(root);
    return found;
  };

  /** Why an element cannot be seen: what kind of reason, and in words that follow "but".
   * @type {(element: Element) => [string, string] | null} */
  const why = element => {
    if (/^opt(ion|group)$/.test(element.localName)) return ['closed', 'in a closed menu'];
    for (let e = /** @type {Element | null} */ (element); e; e = parentOf(e)) {
      const above = parentOf(e);
      if (above instanceof HTMLDetailsElement && !above.open && e.localName !== 'summary') return ['closed', 'in a closed menu'];
      if (e instanceof HTMLDialogElement && !e.open) return ['closed', 'in a closed dialog'];
      if (e instanceof HTMLElement && e.popover && !e.matches(':popover-open')) return ['closed', 'in a closed menu'];
      if (/^(menu|listbox|tooltip)$/.test(e.getAttribute('role') ?? '') && getComputedStyle(e).display === 'none') return ['closed', 'in a closed menu'];
    }
    if (!element.checkVisibility()) return ['display', 'hidden by CSS'];
    if (getComputedStyle(element).visibility !== 'visible') return ['visibility', 'hidden by CSS'];
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return ['size', 'without any size'];
    for (let e = /** @type {Element | null} */ (element); e; e = parentOf(e)) if (e.getAttribute('aria-hidden') === 'true') return ['aria', 'hidden from assistive technology by aria-hidden'];
    for (let e = parentOf(element); e && e !== document.body; e = parentOf(e)) {
      const { overflowX, overflowY } = getComputedStyle(e);
      const outer = e.getBoundingClientRect();
      const beside = box.right <= outer.left || box.left >= outer.right;
      const above = box.bottom <= outer.top || box.top >= outer.bottom;
      if ((overflowX !== 'visible' && beside) || (overflowY !== 'visible' && above)) return ['clipped', 'scrolled out of sight'];
    }
    return null;
  };
  /** The control that opens what an element is in. @type {(element: Element) => Element | null} */
  const opener = element => {
    for (let e = /** @type {Element | null} */ (element); e; e = parentOf(e)) {
      const above = parentOf(e);
      if (above instanceof HTMLDetailsElement && !above.open) return above.querySelector(':scope > summary');
      if (!e.id) continue;
      const id = CSS.escape(e.id);
      const root = /** @type {Document | ShadowRoot} */ (e.getRootNode());
      const found = root.querySelector?.(`[aria-controls~="${id}"], [popovertarget="${id}"], [commandfor="${id}"], [aria-owns~="${id}"]`);
      if (found && found !== e) return found;
    }
    return null;
  };
  /** What is in the document and cannot be seen. @type {(elements: Element[]) => Hidden[]} */
  const hidden = elements => {
    /** What ancestors leave of the page. @type {Map<Element | null, Box>} */
    const windows = new Map([[null, { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity }]]);
    /** @type {(element: Element | null) => Box} */
    const window = element => {
      const known = windows.get(element);
      if (known) return known;
      const outer = window(parentOf(/** @type {Element} */ (element)));
      const { overflowX, overflowY } = getComputedStyle(/** @type {Element} */ (element));
      const box = element === document.body || (overflowX === 'visible' && overflowY === 'visible') ? null : element?.getBoundingClientRect();
      const [x, y] = [box && overflowX !== 'visible' ? box : outer, box && overflowY !== 'visible' ? box : outer];
      const left = { left: Math.max(outer.left, x.left), right: Math.min(outer.right, x.right), top: Math.max(outer.top, y.top), bottom: Math.min(outer.bottom, y.bottom) };
      windows.set(element, left);
      return left;
    };
    /** @type {(element: Element) => string | null} */
    const reason = element => {
      if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return why(element)?.[0] ?? 'opacity';
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.height === 0) return 'size';
      const shows = window(parentOf(element));
      return box.right <= shows.left || box.left >= shows.right || box.bottom <= shows.top || box.top >= shows.bottom ? 'clipped' : null;
    };
    /** @type {Hidden[]} */
    const found = [];
    for (const element of elements) {
      if (found.length === MOST_HIDDEN) break;
      if (!element.matches(TOLD_WHEN_HIDDEN)) continue;
      const because = reason(element);
      const role = because && roleOf(element);
      if (!role || UNLISTED.has(role)) continue;
      const name = nameOf(element, true);
      if (!name || name.length > LONGEST_NAME) continue;
      const by = opener(element);
      found.push({ element: `${role} ${JSON.stringify(name)}`, why: because, ...by && { behind: told(by) } });
    }
    return found;
  };

  /** @param {Extract<Question, { do: 'read' }>} asked */
  const read = asked => {
    // A document may have lost its root.
    const root = document.documentElement ?? document.createElement('html');
    const tree = injected.utils.generateAriaTree(root, { mode: 'default' });
    /** @type {Row[]} */
    const rows = [];
    const keep = { serial: ++last, rows: /** @type {typeof held.rows} */ ([]) };
    let free = asked.number ?? 0;
    /** @type {(row: Row, element: Element, text?: string) => void} */
    const add = (row, element, text) => {
      rows.push(row);
      keep.rows.push({ element: new WeakRef(element), role: row.role, name: row.name ?? '', text });
    };
    /** @type {(node: AriaNode | string, depth: number, within: Element) => void} */
    const visit = (node, depth, within) => {
      if (rows.length >= MOST_ROWS) return;
      if (typeof node === 'string') {
        if (node) add({ d: depth, role: 'text', name: node }, within, node);
        return;
      }
      const element = elementOf(node) ?? within;
      const name = node.name.length <= LONGEST_NAME ? node.name : '';
      const [only] = node.children;
      const inline = node.children.length === 1 && typeof only === 'string' && !node.props.url && !node.props.placeholder ? only : undefined;
      /** @type {Row} */
      const row = { d: depth, role: node.role };
      if (name) row.name = name;
      if (inline) row.text = inline;
      if (node.level) row.level = node.level;
      const is = states(node);
      if (is.length) row.states = is;
      if (asked.boxes) {
        const { x, y, width, height } = element.getBoundingClientRect();
        row.box = [x, y, width, height].map(Math.round);
      }
      if (node.role === 'iframe') row.f = frame(element);
      const label = name || inline;
      if (INTERACTIVE.has(node.role) || (label && !UNLISTED.has(node.role))) {
        row.e = asked.number === undefined ? 0 : number(element, node.role, node.name, () => free++);
        if (asked.css) row.css = pathOf(element);
      }
      add(row, element);
      if (inline === undefined) for (const child of node.children) visit(child, depth + 1, element);
    };
    for (const node of tree.root.children) visit(node, 0, root);
    if (rows.length >= MOST_ROWS) rows.push({ d: 0, role: 'text', unread: 'more, cut' });
    const elements = all(document.body ?? root, MOST_LOOKED_AT);
    for (const element of elements) {
      const unread = isClosed(element) ? 'a closed shadow tree' : isEmbedded(element) ? 'a document that is embedded' : undefined;
      if (unread) rows.push({ d: 1, role: 'generic', name: element.localName, unread });
    }
    held = keep;
    const masked = asked.masks?.map(selector => {
      let found;
      try { found = [...document.querySelectorAll(selector)]; } catch { return null; }
      const rects = found.flatMap(element => [...element.getClientRects()]).filter(box => box.width > 0 && box.height > 0);
      return found.length ? rects.map(({ left, top, right, bottom }) => ({ left, top, right, bottom })) : null;
    });
    return { serial: keep.serial, rows, title: document.title, location: location.href, width: innerWidth, height: innerHeight,
      frames: rows.some(row => row.f) ? inner() : [],
      ...asked.layout && { masked, hidden: hidden(elements), defects: root.isConnected ? layout({ elements, told, parentOf }) : [] } };
  };

  /** The frames of this document: where each shows its own, and whether it can be seen at all. */
  const inner = () => all(document, Infinity).filter(element => /^i?frame$/.test(element.localName)).map(element => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const { offsetWidth, offsetHeight, clientLeft, clientTop, clientWidth, clientHeight } = /** @type {HTMLElement} */ (element);
    const [x, y] = [width / offsetWidth || 1, height / offsetHeight || 1];
    const px = (/** @type {string} */ length) => parseFloat(length) || 0;
    return { frame: frame(element), x, y, left: left + (clientLeft + px(style.paddingLeft)) * x, top: top + (clientTop + px(style.paddingTop)) * y,
      width: (clientWidth - px(style.paddingLeft) - px(style.paddingRight)) * x,
      height: (clientHeight - px(style.paddingTop) - px(style.paddingBottom)) * y,
      shown: clientWidth > 0 && clientHeight > 0 && element.checkVisibility({ visibilityProperty: true }) };
  });

  /** Whether an element shows a text. What is not rendered is left out, blocks are set apart, and a text area's
   * content is what it began with. @type {(element: Element, asked: Extract<Question, { do: 'shows' }>) => boolean} */
  const shows = (element, { text, whole, anyCase, pattern }) => {
    const normal = (/** @type {string} */ text) => {
      text = text.replace(/[\u200b\u00ad]/g, '').trim().replace(pattern ? /[ \t\r\n\f]+/g : /\s+/g, ' ');
      return anyCase ? text.toLowerCase() : text;
    };
    const above = (/** @type {Node} */ node) => /** @type {Partial<Text>} */ (node).assignedSlot ?? node.parentElement ?? /** @type {Partial<ShadowRoot>} */ (node.getRootNode()).host ?? null;
    for (let e = /** @type {Element | null} */ (element); e; e = parentOf(e)) if (getComputedStyle(e).display === 'none') return false;
    /** @type {(node: Node) => string} */
    const shown = node => {
      if (node.nodeType === Node.TEXT_NODE) {
        const holds = above(node);
        return holds && getComputedStyle(holds).visibility === 'visible' ? /** @type {Text} */ (node).data : '';
      }
      if (!(node instanceof Element) || node.localName === 'textarea') return '';
      const { display } = getComputedStyle(node);
      if (display === 'none') return '';
      const slotted = node instanceof HTMLSlotElement ? node.assignedNodes() : [];
      const children = node.shadowRoot ? node.shadowRoot.childNodes : slotted.length ? slotted : node.childNodes;
      const inside = [...children].map(shown).join('');
      return /^(inline|contents|ruby)/.test(display) && node.localName !== 'br' ? inside : ` ${inside} `;
    };
    const found = normal(shown(element));
    if (whole) return found === normal(text);
    return pattern ? new RegExp(pattern, anyCase ? 'iu' : 'u').test(found) : found.includes(normal(text));
  };

  /** @type {(role: string, name: string) => Element[]} */
  const called = (role, name) => all(document, Infinity).filter(element => roleOf(element) === role && element.checkVisibility() && nameOf(element) === name);
  /** The element of a number, while it is called as it was then. @type {(number: number) => Element | undefined} */
  const same = number => {
    const was = numbered.get(number);
    const element = was?.element.deref();
    if (!was || !element?.isConnected || roleOf(element) !== was.role) return undefined;
    // What is hidden says nothing; it is called as ever.
    return nameOf(element) === was.name || (!element.checkVisibility() && nameOf(element, true) === was.name) ? element : undefined;
  };
  const words = (/** @type {string} */ role, /** @type {string} */ name) => name ? `${role} ${JSON.stringify(name)}` : role || 'no element of a role';
  /** An element with its number, which it gets if it has none. @type {(element: Element | undefined, next: number) => object} */
  const now = (element, free) => {
    if (!element) return {};
    const [role, name] = [roleOf(element), nameOf(element)];
    return { is: words(role, name), number: number(element, role, name, () => free) };
  };
  /** The only element that is called so. @param {Extract<Question, { do: 'called' }>} asked */
  const only = ({ role, name, next }) => {
    const [found, more] = called(role, name);
    return { state: 'gone', was: words(role, name), ...now(more ? undefined : found, next) };
  };
  /** What became of the element of a number. What is there now gets a number, too.
   * @param {Extract<Question, { do: 'who' }>} asked */
  const who = asked => {
    const was = numbered.get(asked.number);
    if (!was) return { state: 'unknown' };
    const answer = { was: words(was.role, was.name) };
    if (same(asked.number)) return { state: 'same', ...answer };
    const element = was.element.deref();
    if (element?.isConnected) return { state: 'changed', ...answer, ...now(element, asked.next) };
    const [instead, more] = called(was.role, was.name);
    if (instead) return { state: 'gone', ...answer, ...now(more ? undefined : instead, asked.next) };
    // What stands where it stood.
    const [above, before] = [was.above?.deref(), was.before?.deref()];
    const heir = before ? next(before) : above instanceof Element ? first(above) : null;
    const stands = heir?.isConnected && parentNode(heir) === above && roleOf(heir) ? heir : undefined;
    return { state: 'gone', ...answer, ...now(stands, asked.next) };
  };

  /** @type {(answer: unknown) => Element[]} */
  const carried = answer => {
    const carrier = document.createElement('data');
    carrier.textContent = JSON.stringify(answer);
    return [carrier];
  };
  return {
    /** @type {(root: Node, asked: string) => Element[]} */
    queryAll(root, asked) {
      const [, kind, which, second] = /^([ef#])(\d+)(?:\.(\d+))?$/.exec(asked) ?? [];
      const connected = (/** @type {Element | undefined} */ element) => element?.isConnected ? [element] : [];
      if (kind === 'e') return connected(same(Number(which)));
      if (kind === 'f') return connected(framed.get(Number(which))?.deref());
      if (kind === '#') {
        const line = Number(second);
        const row = Number(which) === held.serial ? held.rows[line] : undefined;
        if (!row) return [];
        const [element] = connected(row.element.deref());
        if (element) return [row.text ? holder(element, row.text) : element];
        // Rendered anew, it is the one in its place among those that are called so.
        const before = held.rows.slice(0, line).filter(other => other.role === row.role && other.name === row.name);
        return called(row.role, row.name).slice(before.length, before.length + 1);
      }
      if (!injected) throw new Error('this Playwright is not the one that Packtrain knows; `packtrain doctor` says which it is');
      /** @type {Question} */
      const question = JSON.parse(asked);
      switch (question.do) {
        case 'read': return carried(read(question));
        case 'frames': return carried(inner());
        case 'who': return carried(who(question));
        case 'called': return carried(only(question));
        case 'shows': return root instanceof Element && shows(root, question) ? [root] : [];
        case 'why': return carried(root instanceof Element ? why(root)?.[1] ?? null : null);
        // Then it answers to the browser's own protocol, too.
        case 'open':
          Reflect.set(globalThis, Symbol.for('packtrain'), lane(() => injected, read, still));
          return carried(true);
      }
    },
  };
}
