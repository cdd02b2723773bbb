// Makes every text of a document larger or smaller, as a person who needs larger text sets it: what
// is given in px as much as what follows the default size. Called with the factor, before any other
// script of the document.
scale => {
  const KEYWORDS = { 'xx-small': 9, 'x-small': 10, small: 13, medium: 16, large: 18, 'x-large': 24, 'xx-large': 32, 'xxx-large': 48 };
  const LENGTH = /(\d*\.?\d+)(px|pt|pc|in|cm|mm|q|[sld]?v(?:w|h|i|b|min|max))\b/gi;
  const HOOKS = [[CSSStyleSheet, ['insertRule', 'addRule', 'replaceSync', 'replace']], [CSSGroupingRule, ['insertRule']]];
  // What was written into a declaration, so that nothing grows twice.
  const written = new WeakMap();
  const own = new CSSStyleSheet();
  const roots = new Set([document]);

  const absolute = value => { LENGTH.lastIndex = 0; return LENGTH.test(value); };
  const lengths = value => value.replace(LENGTH, (_, number, unit) => number * scale + unit);
  // A variable is shared with what is no text, so its use grows and not the variable.
  const variables = value => value.replace(/var\(\s*(--[\w-]+)[^()]*\)/g, (use, name) => {
    const content = getComputedStyle(document.documentElement).getPropertyValue(name);
    return absolute(content) ? `calc(${use} * ${scale})` : use;
  });
  const grown = (property, value) => {
    if (property === 'font-size' && value in KEYWORDS) return `${KEYWORDS[value] * scale}px`;
    return value.includes('var(') ? variables(value) : lengths(value);
  };
  const declare = style => {
    for (const property of ['font-size', 'line-height']) {
      const value = style.getPropertyValue(property);
      const known = written.get(style) ?? {};
      if (!value || known[property] === value) continue;
      const next = grown(property, value);
      if (next !== value) style.setProperty(property, next, style.getPropertyPriority(property));
      written.set(style, { ...known, [property]: style.getPropertyValue(property), [`${property} grew`]: next !== value });
    }
  };
  const each = (rules, visit) => {
    for (const rule of rules) {
      if (rule.style) visit(rule);
      if (rule.styleSheet) sheet(rule.styleSheet, visit);
      if (rule.cssRules) each(rule.cssRules, visit);
    }
  };
  // Another origin's style sheet cannot be read.
  const sheet = (one, visit) => {
    try { each(one.cssRules, visit); } catch (error) { if (error.name !== 'SecurityError') throw error; }
  };
  const sheets = visit => {
    for (const root of roots)
      for (const one of [...root.styleSheets, ...root.adoptedStyleSheets]) if (one !== own) sheet(one, visit);
  };
  // The root's size, unless it was given in px and has grown with its rule, and that of controls, which
  // the browser gives in px.
  const root = () => {
    const html = document.documentElement;
    if (!html) return;
    const controls = `@layer { :where(button, input, select, textarea) { font-size: ${13.3333 * scale}px } }`;
    own.replaceSync(controls);
    if (!document.adoptedStyleSheets.includes(own)) document.adoptedStyleSheets = [...document.adoptedStyleSheets, own];
    let grew = false;
    const look = style => {
      if (style.getPropertyValue('font-size')) grew = written.get(style)?.['font-size grew'] ?? false;
    };
    sheets(rule => { if (rule.selectorText && html.matches(rule.selectorText)) look(rule.style); });
    look(html.style);
    const size = parseFloat(getComputedStyle(html).fontSize) * (grew ? 1 : scale);
    own.replaceSync(`html { font-size: ${size}px !important } ${controls}`);
  };
  const all = () => {
    sheets(rule => declare(rule.style));
    root();
  };
  let queued = false;
  const later = () => {
    if (queued) return;
    queued = true;
    queueMicrotask(() => { queued = false; all(); });
  };
  const added = node => {
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    if (node.style?.length) declare(node.style);
    for (const element of node.querySelectorAll('[style]')) declare(element.style);
  };
  const observer = new MutationObserver(mutations => {
    let styles = false;
    for (const { type, target, addedNodes, removedNodes } of mutations) {
      if (type === 'attributes') { if (target.style) declare(target.style); continue; }
      for (const node of addedNodes) added(node);
      styles ||= target.localName === 'style' || target.parentNode?.localName === 'style' || target === document ||
        [...addedNodes, ...removedNodes].some(node => /^(style|link|html|body)$/.test(node.localName));
    }
    if (styles) all();
  });
  const watch = node => observer.observe(node, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['style'] });

  for (const [{ prototype }, names] of HOOKS)
    for (const name of names) {
      const original = prototype[name];
      if (!original) continue;
      prototype[name] = function (...values) {
        const answer = original.apply(this, values);
        if (this !== own) later();
        return answer;
      };
    }
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const shadow = attach.call(this, options);
    roots.add(shadow);
    watch(shadow);
    return shadow;
  };
  watch(document);
  document.addEventListener('load', event => { if (event.target.localName === 'link') all(); }, true);
  document.addEventListener('DOMContentLoaded', all);
  addEventListener('resize', root);
  all();
}
