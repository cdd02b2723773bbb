// @ts-check
/// <reference path="./reading.d.ts" />
// The fast lane's end in a document. An action: one element, ready, and a point of it that is hit. Every check
// is Playwright's own, made by its script in this world; here they stand in one evaluation. What is not ready
// soon, or not as usual, is answered with a reason, and Playwright's own way goes on from there. And a look: the
// page once it rests, read in that moment.
/** @param {() => Injected} script @param {(asked: object) => object} read @param {(asked: object) => Promise<Rest>} still */
(script, read, still) => {
  /** No longer than an interval between two frames: who moves by timers moves within it. */
  const INTERVAL_MS = 16;
  /** Of a page that rests, no timer is due within this. */
  const FORESEEN_MS = 60;
  /** The events of an action are over by then. */
  const MOST_GUARDED_MS = 10_000;
  /** @type {{ stop(): string | object } | undefined} */
  let guard;
  /** What has begun to navigate since the last check, and from where. @type {[NavigateEvent, NavigationHistoryEntry | null][]} */
  let navigations = [];
  /** So long after a look nothing is due that could change the page. */
  let restsUntil = 0;

  const now = () => script().utils.builtins.performance.now();
  /** Ends after `ms`. @type {(ms: number) => Promise<void>} */
  const pause = ms => new Promise(done => { script().utils.builtins.setTimeout(() => done(), ms); });
  /** Ends when all that a frame runs has run; `false` when none came. @type {(limit: number) => Promise<boolean>} */
  const frame = limit => new Promise(done => {
    const { setTimeout, requestAnimationFrame } = script().utils.builtins;
    setTimeout(() => done(false), Math.max(limit, INTERVAL_MS * 3));
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { port1.close(); done(true); };
      port2.postMessage(0);
    });
  });
  /** @type {(event: NavigateEvent) => void} */
  const begins = event => { navigations = [...navigations.slice(-20), [event, navigation.currentEntry]]; };

  /** A form of this name would be the host of its document. @type {(element: Element) => Element | undefined} */
  const hostOf = element => {
    const root = Node.prototype.getRootNode.call(element);
    return root instanceof ShadowRoot ? root.host : undefined;
  };
  /** Whether scrolling it into view may take its time; Playwright's own scrolling takes none. @type {(element: Element) => boolean} */
  const glides = element => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const isInWindow = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    // A form's fields hide what their names are of the form itself.
    const above = /** @type {(this: Node) => Element | null} */ (Object.getOwnPropertyDescriptor(Node.prototype, 'parentElement')?.get);
    /** @type {Element | undefined} */
    let at = element;
    for (; at; at = above.call(at) ?? hostOf(at)) {
      if (getComputedStyle(at).scrollBehavior === 'smooth' && !(isInWindow && at === document.documentElement)) return true;
    }
    return false;
  };
  /** @type {(element: Element) => string} */
  const place = element => {
    const { left, top, width, height } = (script().retarget(element, 'no-follow-label') ?? element).getBoundingClientRect();
    return `${left} ${top} ${width} ${height}`;
  };
  /** The middle of the first piece that can be seen, to a hundredth. @type {(pieces: DOMRectList) => { x: number, y: number } | null} */
  const middle = pieces => {
    const within = (/** @type {number} */ value, /** @type {number} */ most) => Math.min(Math.max(value, 0), most);
    for (const { left, top, right, bottom } of pieces) {
      const [l, r, t, b] = [within(left, innerWidth), within(right, innerWidth), within(top, innerHeight), within(bottom, innerHeight)];
      if ((r - l) * (b - t) > 0.99) return { x: Math.round((l + r) * 50) / 100, y: Math.round((t + b) * 50) / 100 };
    }
    return null;
  };
  /** Whether Playwright may aim at a part of it: an element that is inline need have no box of its own, and is the sum of
   * its parts then. @type {(element: Element, at: { x: number, y: number }) => boolean} */
  const isInParts = (element, at) => {
    if (!element.firstElementChild || getComputedStyle(element).display !== 'inline') return false;
    const content = document.createRange();
    content.selectNodeContents(element);
    const first = middle(content.getClientRects());
    return first?.x !== at.x || first.y !== at.y;
  };

  /** States that the element must have. */
  const NEEDS = { click: ['visible', 'enabled'], hover: ['visible'], fill: ['visible', 'enabled', 'editable'], selectOption: ['visible', 'enabled'] };
  /** @param {Act} asked @returns {Promise<object>} */
  const act = async asked => {
    const injected = script();
    uncover();
    const parsed = injected.parseSelector(asked.selector);
    const end = now() + asked.limit;
    /** @type {(element: Element) => string | undefined} */
    const lacks = element => NEEDS[asked.do].find(state => !injected.elementState(element, state, true).matches);
    let why = 'absent';
    for (let tries = 0; ; tries++) {
      if (tries && (now() >= end || !await frame(end - now()))) return { not: why };
      const [element, another] = injected.querySelectorAll(parsed, document);
      if (another) return { not: 'several' };
      why = element ? lacks(element) ?? '' : 'absent';
      if (!element || why) continue;
      if (asked.do === 'click' || asked.do === 'hover') {
        // Of a page that is known to rest, every frame is like the one before.
        if (!asked.rests || now() >= restsUntil) {
          const [before, since] = [place(element), now()];
          if (!await frame(end - now())) return { not: 'stable' };
          if (now() - since < INTERVAL_MS - 1) await pause(INTERVAL_MS - (now() - since));
          why = !element.isConnected ? 'attached' : place(element) !== before ? 'stable' : lacks(element) ?? '';
          if (why) continue;
        }
        restsUntil = 0;
        if (glides(element)) return { not: 'in view' };
        element.scrollIntoViewIfNeeded(true);
        const at = middle(element.getClientRects());
        if (!at) return { not: 'in view' };
        if (isInParts(element, at)) return { not: 'in one piece' };
        if (Date.now() > asked.until) return { not: 'in time' };
        guard?.stop();
        const guarded = injected.setupHitTargetInterceptor(element, asked.do === 'click' ? 'mouse' : 'hover', at, false);
        if (typeof guarded === 'string') return { not: guarded };
        globalThis.navigation?.addEventListener('navigate', begins);
        [guard, navigations] = [guarded, []];
        // Whoever goes away before the events guards nothing.
        injected.utils.builtins.setTimeout(() => { guarded.stop(); }, MOST_GUARDED_MS);
        return { at };
      }
      restsUntil = 0;
      if (Date.now() > asked.until) return { not: 'in time' };
      const done = asked.do === 'fill' ? injected.fill(element, asked.value ?? '') : injected.selectOptions(element, asked.options ?? []);
      if (Array.isArray(done) || done === 'done') return { done: true };
      return done === 'needsinput' ? { types: true } : { not: done };
    }
  };
  /** After the events: whether they hit what they were meant for, and whether the page is about to be left. */
  const release = async () => {
    // What the events have put off until they are over, as a form does, has begun.
    await pause(0);
    const hit = guard?.stop() ?? 'done';
    guard = undefined;
    // Whatever the page had to say of it is said. What it shows itself instead has a new entry already.
    const leaves = navigations.some(([{ destination, hashChange, downloadRequest, defaultPrevented }, entry]) =>
      !hashChange && downloadRequest === null && !destination.sameDocument && !defaultPrevented && entry === navigation.currentEntry);
    navigations = [];
    return { hit: hit === 'done', leaves };
  };

  /** What draws a caret: whatever has the focus, and is written into. @type {(root: Document | ShadowRoot) => HTMLElement[]} */
  const written = root => {
    const focused = root.activeElement;
    if (focused?.shadowRoot) return written(focused.shadowRoot);
    const fields = 'input, textarea, [contenteditable]';
    return /** @type {HTMLElement[]} */ (focused ? [focused, ...focused.querySelectorAll(fields)].filter(element => element.matches(fields)) : []);
  };
  /** Shows the carets again. */
  let uncover = () => {};
  const cover = () => {
    uncover();
    const all = written(document).map(element => /** @type {const} */ ([element.style, element.style.getPropertyValue('caret-color'), element.style.getPropertyPriority('caret-color')]));
    for (const [style] of all) style.setProperty('caret-color', 'transparent', 'important');
    const own = () => {
      if (uncover !== own) return;
      uncover = () => {};
      for (const [style, was, priority] of all) style.setProperty('caret-color', was, priority);
    };
    uncover = own;
    // A look that nobody comes back to hides nothing for good.
    script().utils.builtins.setTimeout(own, MOST_GUARDED_MS);
  };
  /** @param {Look} asked @returns {Promise<object>} */
  const look = async ({ picture, wanted, ...asked }) => {
    const rest = await still(asked);
    restsUntil = rest.foreseen && !rest.animated ? now() + FORESEEN_MS : 0;
    const page = read(wanted);
    if (picture) cover();
    return { rest, page, scaled: visualViewport?.scale !== 1 || devicePixelRatio !== 1 };
  };
  /** How often the page has moved once its picture is taken. */
  const taken = () => {
    uncover();
    return Reflect.get(window, Symbol.for('packtrain.watch'))?.moves ?? -1;
  };
  return { act, release, look, taken };
}
