// A shop in three languages that is right at every width, in light and in dark.
import { defects } from './defects.js';

const texts = {
  en: {
    dir: 'ltr', nav: ['Lamps', 'Chairs', 'Offers', 'Help'], menu: 'Menu', all: 'All products', find: 'Article number',
    items: ['Desk lamp', 'Floor lamp', 'Office chair', 'Stool'], add: 'Add {0}', stock: 'In stock', place: 'Branch',
    pieces: 'Pieces', places: ['Cologne', 'Cairo', 'Vienna'], delivery: 'Delivery', close: 'Close', empty: 'Your basket is empty',
    terms: 'We deliver within three days.', basket: 'Basket: {0}', checkout: 'Checkout', name: 'Name', email: 'Email',
    country: 'Country', countries: ['Egypt', 'Germany', 'Ireland'], gift: 'Gift wrapping', sum: 'Subtotal', post: 'Postage',
    total: 'Total', order: 'Place order', thanks: 'Thank you', number: 'Your order has the number {0}.', on: 'Continue shopping',
    foot: ['Imprint', 'Privacy', 'Contact'], note: 'All prices include taxes.',
  },
  de: {
    dir: 'ltr', nav: ['Lampen', 'Stühle', 'Angebote', 'Hilfe'], menu: 'Menü', all: 'Alle Produkte', find: 'Artikelnummer',
    items: ['Tischlampe', 'Stehlampe', 'Bürostuhl', 'Hocker'], add: '{0} hinzufügen', stock: 'Vorrätig', place: 'Filiale',
    pieces: 'Stück', places: ['Köln', 'Kairo', 'Wien'], delivery: 'Lieferung', close: 'Schließen', empty: 'Der Warenkorb ist leer',
    terms: 'Wir liefern innerhalb von drei Tagen.', basket: 'Warenkorb: {0}', checkout: 'Zur Kasse', name: 'Vor- und Nachname',
    email: 'E-Mail', country: 'Land', countries: ['Ägypten', 'Deutschland', 'Irland'], gift: 'Geschenkverpackung', sum: 'Zwischensumme',
    post: 'Versand', total: 'Summe', order: 'Bestellen', thanks: 'Danke', number: 'Deine Bestellung hat die Nummer {0}.',
    on: 'Weiter einkaufen', foot: ['Impressum', 'Datenschutz', 'Kontakt'], note: 'Alle Preise enthalten Steuern.',
  },
  ar: {
    dir: 'rtl', nav: ['مصابيح', 'كراسي', 'عروض', 'مساعدة'], menu: 'القائمة', all: 'كل المنتجات', find: 'رقم المنتج',
    items: ['مصباح مكتب', 'مصباح أرضي', 'كرسي مكتب', 'مقعد'], add: 'أضف {0}', stock: 'متوفر', place: 'الفرع',
    pieces: 'قطع', places: ['كولونيا', 'القاهرة', 'فيينا'], delivery: 'التوصيل', close: 'إغلاق', empty: 'سلتك فارغة',
    terms: 'نوصل الطلب خلال ثلاثة أيام.', basket: 'السلة: {0}', checkout: 'إتمام الشراء', name: 'الاسم', email: 'البريد',
    country: 'البلد', countries: ['مصر', 'ألمانيا', 'أيرلندا'], gift: 'تغليف هدية', sum: 'المجموع الفرعي', post: 'الشحن',
    total: 'المجموع', order: 'أرسل الطلب', thanks: 'شكرا لك', number: 'رقم طلبك هو {0}.', on: 'متابعة التسوق',
    foot: ['بيانات النشر', 'الخصوصية', 'اتصل بنا'], note: 'كل الأسعار تشمل الضرائب.',
  },
};

const locale = navigator.language;
const t = texts[locale.slice(0, 2)];
const { defect, menu } = document.documentElement.dataset;
const prices = [29.9, 89, 249, 45.5];
const articles = ['1041', '1042', '2041', '2042'];
const money = (amount) => new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' }).format(amount);
const count = (number) => new Intl.NumberFormat(locale).format(number);
const filled = (text, value) => text.replace('{0}', value);
const $ = (selector) => document.querySelector(selector);
const basket = [];
let sought = '';
document.documentElement.lang = locale;
document.documentElement.dir = t.dir;

const links = (names) => names.map((name, at) => `<a href="#/${at}">${name}</a>`).join('');
const item = (at) => `<li><img src="lamp.svg" alt=""><span class="name">${t.items[at]}</span>
  <span class="price">${money(prices[at])}</span><button class="add" id="add-${at}">${filled(t.add, t.items[at])}</button></li>`;
const found = () => articles.map((article, at) => article.startsWith(sought) ? item(at) : '').join('');

const pages = {
  shop: () => `<h1>${t.all}</h1><form><label>${t.find}<input id="find" value="${sought}"></label></form>
    <ul id="products">${found()}</ul><p id="note">${t.note}</p>
    <div class="actions"><button id="delivery">${t.delivery}</button><a class="action" id="checkout" href="#/pay">${t.checkout}</a></div>
    <h2>${t.stock}</h2><table><tr><th>${t.place}</th><th>${t.pieces}</th></tr>
    ${t.places.map((place, at) => `<tr><td>${place}</td><td class="pieces">${stock ? count(stock[at]) : '-'}</td></tr>`).join('')}</table>
    <dialog id="terms" aria-label="${t.delivery}"><p>${t.terms}</p><button id="close">${t.close}</button></dialog>`,
  pay: () => `<h1>${t.checkout}</h1><form><label>${t.name}<input id="name"></label><label>${t.email}<input id="email"></label>
    <label>${t.country}<select id="country">${t.countries.map((name) => `<option>${name}</option>`).join('')}</select></label>
    <label class="row"><input type="checkbox" id="gift">${t.gift}</label></form><h2>${t.total}</h2>
    <dl><dt>${t.sum}</dt><dd>${money(paid())}</dd><dt>${t.post}</dt><dd>${money(4.9)}</dd><dt>${t.total}</dt>
    <dd id="total">${money(paid() + 4.9)}</dd></dl><div class="actions"><button id="order">${t.order}</button></div>`,
  done: () => `<h1>${t.thanks}</h1><p id="number">${filled(t.number, count(70412))}</p><a class="action" id="on" href="#/">${t.on}</a>`,
};
const paid = () => basket.reduce((sum, at) => sum + prices[at], 0);

/** What the page can be asked to do wrong stands in defects.js; none of it is known here but when. */
const context = { t, locale, money, count, prices, page: 'shop', before: async () => {} };
const planted = defects[defect] ?? (() => {});
let stock = null;

function render(page) {
  context.page = page;
  const full = basket.length > 0;
  document.body.innerHTML = `<header><span class="brand">Lumen</span>
    <button id="menu" aria-expanded="false">${t.menu}</button>
    <nav>${menu === 'unmounted' && innerWidth < 600 ? '' : links(t.nav)}</nav>
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 4h3l3 11h9l3-8H7"/></svg>
    <span id="basket" class="${full ? 'full' : ''}">${full ? filled(t.basket, money(paid())) : t.empty}</span></header>
    <main>${pages[page]()}</main><footer>${links(t.foot)}</footer>`;
  planted(context);
  $('#menu').onclick = () => {
    const isOpen = $('nav').classList.toggle('open');
    $('#menu').ariaExpanded = String(isOpen);
    if (menu === 'unmounted') $('nav').innerHTML = isOpen ? links(t.nav) : '';
  };
  const on = (id, event, act) => $(id)?.addEventListener(event, act);
  on('#find', 'input', (event) => {
    sought = event.target.value;
    $('#products').innerHTML = found();
    planted(context);
    buttons();
  });
  buttons();
  on('#delivery', 'click', () => context.isStuck || $('#terms').show());
  on('#close', 'click', () => $('#terms').close());
  on('#checkout', 'click', (event) => { event.preventDefault(); render('pay'); });
  on('#order', 'click', () => render('done'));
  on('#on', 'click', (event) => event.preventDefault());
}

function buttons() {
  document.querySelectorAll('.add').forEach((button) => {
    button.onclick = async () => {
      await context.before();
      basket.push(Number(button.id.slice(4)));
      render('shop');
    };
  });
}

const answer = await fetch('api/stock').catch(() => null);
stock = answer?.ok ? await answer.json() : null;
render('shop');
