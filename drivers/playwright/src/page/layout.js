// What is wrong with the layout of a still page.
//
// A rule holds for all of it: what is not visible is not looked at, and what a person can scroll to is
// no defect.
({ elements, told, parentOf }) => {
  const SLACK = 1;
  const MOST_ACTIONABLE = 400;
  const MOST_TOLD = 20;
  const ACTIONABLE = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], ' +
    '[role=checkbox], [role=radio], [role=switch], [role=tab], [role=menuitem], [role=option], [role=combobox], [contenteditable=true]';
  const LAYER = 'dialog, [popover], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=tooltip]';
  const root = document.scrollingElement ?? document.documentElement;
  const width = document.documentElement.clientWidth;
  const height = document.documentElement.clientHeight;

  const styles = new Map();
  const styleOf = element => {
    let style = styles.get(element);
    if (!style) styles.set(element, style = getComputedStyle(element));
    return style;
  };
  const rect = ({ left, top, right, bottom }) => ({ left, top, right, bottom });
  const meet = (a, b) => {
    const both = { left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
    return both.right > both.left && both.bottom > both.top ? both : null;
  };
  const faint = new Map();
  const isFaint = element => {
    if (!element) return false;
    let known = faint.get(element);
    if (known === undefined) faint.set(element, known = Number(styleOf(element).opacity) === 0 || isFaint(parentOf(element)));
    return known;
  };
  const isShown = element => element.checkVisibility({ visibilityProperty: true }) && !isFaint(element);
  const isActionable = element => element.matches(ACTIONABLE);
  // Text that an element holds itself.
  const textOf = element => {
    const rects = [];
    for (const node of element.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const part of range.getClientRects()) if (part.width > 0.5 && part.height > 0.5) rects.push(rect(part));
    }
    return rects;
  };
  // How an element's box treats what does not fit in it, each way.
  const clips = element => {
    if (element === document.body || element === document.documentElement) return { x: 'visible', y: 'visible' };
    const { overflowX, overflowY, contain, clip, clipPath } = styleOf(element);
    const cut = /paint|strict|content/.test(contain) || clip !== 'auto' || clipPath !== 'none';
    return { x: cut ? 'hidden' : overflowX, y: cut ? 'hidden' : overflowY };
  };
  const scrolls = how => how === 'auto' || how === 'scroll';
  // The boxes that cut an element off, its own among them, nearest first.
  const clippers = element => {
    const found = [];
    let fixed = false;
    let free = false;
    for (let e = element; e && e !== document.body; e = parentOf(e)) {
      const own = e === element;
      const s = styleOf(e);
      if (!fixed && !(free && s.position === 'static')) {
        const how = clips(e);
        if (how.x !== 'visible' || how.y !== 'visible') found.push({ element: e, how, own });
      }
      if (!own && s.position !== 'static') free = false;
      if (s.position === 'absolute') free = true;
      if (s.position === 'fixed') fixed = true;
    }
    return found;
  };
  const padded = element => {
    const box = element.getBoundingClientRect();
    return { left: box.left + element.clientLeft, top: box.top + element.clientTop,
      right: box.left + element.clientLeft + element.clientWidth, bottom: box.top + element.clientTop + element.clientHeight };
  };
  // What is left of rectangles once everything is cut off.
  const visibleOf = (element, rects) => {
    let left = rects;
    for (const { element: box, how, own } of clippers(element)) {
      if (own) continue;
      const inner = padded(box);
      const limits = { left: how.x === 'visible' ? -Infinity : inner.left, right: how.x === 'visible' ? Infinity : inner.right,
        top: how.y === 'visible' ? -Infinity : inner.top, bottom: how.y === 'visible' ? Infinity : inner.bottom };
      left = left.map(part => meet(part, limits)).filter(Boolean);
    }
    return left;
  };
  const layerOf = element => {
    for (let e = element; e; e = parentOf(e)) {
      if (e.matches(LAYER)) return e;
      const { position, zIndex } = styleOf(e);
      if (position === 'fixed' || position === 'sticky' || (position === 'absolute' && zIndex !== 'auto' && e !== element)) return e;
    }
    return null;
  };
  const inside = (outer, inner) => { for (let e = inner; e; e = parentOf(e)) if (e === outer) return true; return false; };

  const defects = [];
  const counts = {};
  const tell = (kind, element, at, by, other) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (counts[kind] > MOST_TOLD) return;
    const round = value => Math.round(value * 10) / 10;
    defects.push({ kind, element: typeof element === 'string' ? element : told(element),
      at: at && { left: round(at.left), top: round(at.top), right: round(at.right), bottom: round(at.bottom) },
      by: by === undefined ? null : round(by), other: other ? told(other) : null });
  };

  const pageHow = [document.documentElement, document.body].filter(Boolean).map(e => styleOf(e).overflowX);
  const sideways = root.scrollWidth - width;
  if (sideways > SLACK && !pageHow.some(how => how === 'hidden' || how === 'clip')) tell('scrolls_sideways', 'page', null, sideways);

  const union = rects => rects.reduce((a, b) => ({ left: Math.min(a.left, b.left), top: Math.min(a.top, b.top), right: Math.max(a.right, b.right), bottom: Math.max(a.bottom, b.bottom) }));
  const actionables = [];
  for (const element of elements) {
    if (element.closest('svg') || /^(script|style|option|optgroup|noscript|template|br)$/.test(element.localName)) continue;
    const acts = isActionable(element);
    const hasText = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!acts && !hasText && element.localName !== 'img') continue;
    if (!isShown(element)) continue;
    const boxes = [...element.getClientRects()].map(rect).filter(box => box.right - box.left > 2 && box.bottom - box.top > 2);
    if (!boxes.length) continue;
    const inAction = acts ? element : element.closest(ACTIONABLE);

    const texts = hasText ? textOf(element) : [];
    if (texts.length) {
      const text = union(texts);
      const line = texts[0].bottom - texts[0].top;
      const found = clippers(element);
      // Cut by the nearest box that hides what does not fit, unless it can be scrolled there.
      for (const [low, high, axis, slack] of [['left', 'right', 'x', SLACK], ['top', 'bottom', 'y', line * 0.35]]) {
        const nearest = found.find(({ how }) => how[axis] !== 'visible');
        if (!nearest || scrolls(nearest.how[axis])) continue;
        const box = padded(nearest.element);
        if (box.right - box.left <= 2 || box.bottom - box.top <= 2) continue;
        const hidden = Math.max(box[low] - text[low], text[high] - box[high]);
        const seen = texts.some(part => meet(part, box));
        if (seen && hidden > slack) { tell('text_cut', inAction ?? element, text, hidden); break; }
      }
      // Spills out of the box it stands in, which nothing cuts off.
      let block = element;
      while (block && /^(inline|contents|ruby)$/.test(styleOf(block).display)) block = parentOf(block);
      if (block && block !== document.body && block !== document.documentElement) {
        const box = rect(block.getBoundingClientRect());
        const how = clips(block);
        const beyond = how.x === 'visible' ? Math.max(text.right - box.right, box.left - text.left) : 0;
        const below = how.y === 'visible' ? Math.max(text.bottom - box.bottom, box.top - text.top) : 0;
        const isBox = box.right - box.left > 2 && box.bottom - box.top > 2;
        if (isBox && meet(text, box) && (beyond > SLACK + 1 || below > line * 0.5)) tell('text_spills', inAction ?? element, text, Math.max(beyond, below));
      }
    }

    // Crosses an edge of the screen to the side where nothing scrolls.
    if (acts || !inAction) {
      const whole = union(!acts && texts.length ? texts : clips(element).x === 'visible' ? [...boxes, ...texts] : boxes);
      const hides = clippers(element).some(({ how, own }) => !own && how.x !== 'visible');
      const crosses = whole.left < width - SLACK && whole.right > SLACK && (whole.right > width + SLACK || whole.left < -SLACK);
      if (crosses && !hides) tell('crosses_edge', element, whole, Math.max(whole.right - width, -whole.left));
    }

    if (acts && actionables.length < MOST_ACTIONABLE) {
      const visible = visibleOf(element, boxes);
      if (visible.length) actionables.push({ element, visible, layer: layerOf(element) });
    }
  }

  // Two that can be acted on share a part of the screen, and neither holds the other.
  const holds = (a, b) => a.left <= b.left + SLACK && a.top <= b.top + SLACK && a.right >= b.right - SLACK && a.bottom >= b.bottom - SLACK;
  const byTop = actionables.map(one => ({ ...one, whole: union(one.visible) })).sort((a, b) => a.whole.top - b.whole.top);
  for (let i = 0; i < byTop.length; i++) {
    const a = byTop[i];
    for (let j = i + 1; j < byTop.length && byTop[j].whole.top < a.whole.bottom; j++) {
      const b = byTop[j];
      if (a.layer !== b.layer || inside(a.element, b.element) || inside(b.element, a.element)) continue;
      for (const both of a.visible.flatMap(x => b.visible.map(y => holds(x, y) || holds(y, x) ? null : meet(x, y)))) {
        if (!both) continue;
        const deep = Math.min(both.right - both.left, both.bottom - both.top);
        if (deep <= 2 * SLACK) continue;
        tell('overlaps', a.element, both, deep, b.element);
        break;
      }
    }
  }

  // A stranger lies over the middle of what can be acted on.
  const canScroll = root.scrollHeight > height + SLACK;
  const modal = document.querySelector(':modal');
  for (const { element, visible, layer } of actionables) {
    if (modal && !inside(modal, element)) continue;
    const box = visible[0];
    const middle = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    if (middle.x < 0 || middle.y < 0 || middle.x >= width || middle.y >= height) continue;
    if (styleOf(element).pointerEvents === 'none' || element.closest('[inert]')) continue;
    let hit = document.elementFromPoint(middle.x, middle.y);
    while (hit?.shadowRoot) {
      const deeper = hit.shadowRoot.elementFromPoint(middle.x, middle.y);
      if (!deeper || deeper === hit) break;
      hit = deeper;
    }
    if (!hit || inside(element, hit) || inside(hit, element)) continue;
    if ([...(element.labels ?? [])].some(label => inside(label, hit))) continue;
    const over = layerOf(hit);
    if (over !== layer && over && (over.matches(LAYER) || canScroll)) continue;
    tell('covered', element, box, undefined, hit);
  }

  return defects;
}
