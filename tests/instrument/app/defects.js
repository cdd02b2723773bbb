// What can be wrong with the shop. Each is applied after the page was drawn, and knows only what it breaks.
const $ = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const style = (css) => document.body.insertAdjacentHTML('beforeend', `<style>${css}</style>`);
const put = (selector, text) => { if ($(selector)) $(selector).textContent = text; };
const drop = (selector) => $(selector)?.remove();
const end = (html) => $('main').insertAdjacentHTML('beforeend', html);
const svg = (path) => `<path d="${path}"/>`;

export const defects = {
  d01: () => { if ($('#add-0')) $('#add-0').disabled = true; },
  d02: () => drop('footer a:nth-child(2):nth-last-child(2)'),
  d03: ({ page, t }) => page === 'shop' && put('h1', t.note.replace('.', '')),
  d04: () => style('#checkout { display: none }'),
  d05: ({ page }) => page === 'pay' && end('<div class="veil" style="position: fixed; inset: 0"></div>'),
  d06: () => drop('#order'),
  d07: () => put('#note', 'shop.note.taxes'),
  d08: ({ page, t }) => page === 'done' && put('h1', t.empty),
  d09: () => all('footer a').length > 3 || $('footer').append($('footer a:last-child').cloneNode(true)),
  d10: ({ money }) => put('li:has(#add-2) .price', money(294)),
  d11: ({ money }) => put('#total', money(43.8)),
  d12: ({ page }) => page === 'shop' && put('tr:nth-child(3) .pieces', '1240.0'),
  d13: ({ t }) => $('footer a').textContent === t.foot[2] || $('footer').prepend($('footer a:last-child')),
  d14: ({ t }) => $('[role=status]') ?? $('main').insertAdjacentHTML('afterbegin', `<p role="status">${t.terms}</p>`),
  d15: () => {}, // The server's.
  d16: (context) => { context.before = () => new Promise((done) => setTimeout(done, 2500)); },
  d17: ({ page }) => page === 'pay' && console.error('payment: no provider for this basket'),
  d18: ({ page }) => page === 'pay' && document.head.append(Object.assign(document.createElement('script'), { src: 'pay.js' })),
  d19: ({ page }) => page === 'pay' && style('form { min-width: 1400px }'),
  d20: () => style('#note { width: 90px; white-space: nowrap; overflow: hidden }'),
  d21: () => style('#on { margin-top: 1500px }'),
  d22: () => style('#delivery { margin-inline-end: -40px }'),
  d23: ({ page }) => page === 'done' && end('<div style="position: relative; height: 44px; margin-top: -44px"></div>'),
  d24: ({ locale }) => locale.startsWith('de') && put('#order', 'Place order'),
  d25: ({ locale }) => locale.startsWith('ar') && put('#note', 'Alle Preise enthalten Steuern.'),
  d26: ({ page, t }) => page === 'done' && put('#number', t.number),
  d27: () => put('footer a:last-child', 'Contactez-nous'),
  d28: () => style('#note { color: color-mix(in srgb, var(--text) 18%, var(--back)) }'),
  d29: () => style('@media (prefers-color-scheme: dark) { h1 { color: #20262e } }'),
  d30: () => style('#order { background: crimson }'),
  d31: () => style('#delivery { min-height: 14px; padding: 0 16px; font-size: 10px; line-height: 14px }'),
  d32: () => style('dl { padding-top: 12px }'),
  d33: (context) => { context.isStuck = true; },
  d34: ({ page }) => page === 'done' && end('<p role="progressbar" aria-label="40218">…</p>'),
  d35: () => all('#products img').slice(0, 1).forEach((image) => { image.src = 'gone.svg'; }),
  d36: ({ page }) => { if (page === 'pay') $('#country').selectedIndex = 2; },
  d37: ({ page }) => { if (page === 'pay') $('#gift').checked = true; },
  d38: () => { $('header svg').innerHTML = svg('M4 4l16 16M20 4L4 20'); },
  d39: ({ page }) => { if (page === 'shop' && $('h2')) $('h2').outerHTML = `<p><b>${$('h2').textContent}</b></p>`; },
  d40: () => drop('li:has(#add-3)'),
  d41: ({ page, t }) => page === 'done' && end(`<dialog open aria-label="${t.gift}"><p>${t.terms}</p></dialog>`),
  d42: ({ page }) => { if (page === 'pay') $('#gift').disabled = true; },
};
