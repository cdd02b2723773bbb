// The example shop. Everything it remembers is in localStorage, so that each browser context has
// a shop of its own. It speaks English, and German to browsers that do, or as `?lang=de` asks.
"use strict";

const GERMAN = {
  "Sign in": "Anmelden",
  "Create account": "Konto erstellen",
  "Your account": "Dein Konto",
  "Sign up": "Registrieren",
  "Sign out": "Abmelden",
  "Email": "E-Mail",
  "Password": "Passwort",
  "Full name": "Vor- und Nachname",
  "Enter your email": "Gib deine E-Mail ein",
  "Enter your password": "Gib dein Passwort ein",
  "Wrong email or password": "E-Mail oder Passwort falsch",
  "Enter your full name": "Gib deinen Namen ein",
  "Enter a valid email": "Gib eine gültige E-Mail ein",
  "Welcome, {}": "Willkommen, {}",
  "We sent a link to {}.": "Wir haben einen Link an {} geschickt.",
  "friend": "Freund",
  "you": "dich",
  "Products": "Produkte",
  "Product": "Produkt",
  "Search": "Suchen",
  "Nothing found": "Nichts gefunden",
  "Add": "Hinzufügen",
  "One less": "Eins weniger",
  "One more": "Eins mehr",
  "Quantity": "Anzahl",
  "Add to cart": "In den Warenkorb",
  "Cart": "Warenkorb",
  "Cart ({})": "Warenkorb ({})",
  "Your cart is empty": "Dein Warenkorb ist leer",
  "Remove": "Entfernen",
  "Remove {}": "{} entfernen",
  "Remove {} from the cart?": "{} aus dem Warenkorb entfernen?",
  "Total {}": "Summe {}",
  "Checkout": "Zur Kasse",
  "Address": "Adresse",
  "Enter your address": "Gib deine Adresse ein",
  "Country": "Land",
  "Austria": "Österreich",
  "Germany": "Deutschland",
  "Switzerland": "Schweiz",
  "Express delivery": "Expresslieferung",
  "Arrives tomorrow": "Kommt morgen an",
  "{} items, total {}": "{} Artikel, Summe {}",
  "Place order": "Bestellen",
  "Place order?": "Jetzt bestellen?",
  "You pay {}.": "Du zahlst {}.",
  "Cancel": "Abbrechen",
  "Thank you": "Danke",
  "Your order is on its way, {}.": "Deine Bestellung ist unterwegs, {}.",
  "Continue shopping": "Weiter einkaufen",
  "Espresso": "Espresso",
  "Cappuccino": "Cappuccino",
  "Green tea": "Grüner Tee",
  "Hot chocolate": "Heiße Schokolade",
  "Croissant": "Croissant",
  "Blueberry muffin": "Blaubeermuffin",
  "Cheese sandwich": "Käsebrot",
  "Lemonade": "Limonade",
  "A short strong coffee.": "Ein kurzer, starker Kaffee.",
  "Espresso with milk foam.": "Espresso mit Milchschaum.",
  "From the first harvest.": "Aus der ersten Ernte.",
  "Dark and thick.": "Dunkel und dickflüssig.",
  "Baked this morning.": "Heute Morgen gebacken.",
  "With real blueberries.": "Mit echten Blaubeeren.",
  "With mountain cheese.": "Mit Bergkäse.",
  "Home made.": "Hausgemacht.",
};

const asked = new URLSearchParams(location.search).get("lang");
if (asked) sessionStorage.setItem("lang", asked);
const isGerman = /^de\b/.test(sessionStorage.getItem("lang") || navigator.language);

/** The text in the reader's language: `t("Welcome, {}", name)`. */
function t(text, ...values) {
  const said = isGerman ? GERMAN[text] || text : text;
  return said.replace(/{}/g, () => values.shift());
}

/** What the page says by itself. */
function translate() {
  document.documentElement.lang = "de";
  document.title = document.title.replace(/^[^-]+(?= -)/, (text) => t(text));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const text = node.data.trim();
    if (GERMAN[text]) node.data = node.data.replace(text, GERMAN[text]);
  }
  for (const element of document.querySelectorAll("[aria-label]")) element.ariaLabel = t(element.ariaLabel);
}

const KINDS = [
  ["Espresso", 2.5, "A short strong coffee."],
  ["Cappuccino", 3.8, "Espresso with milk foam."],
  ["Green tea", 2.9, "From the first harvest."],
  ["Hot chocolate", 3.5, "Dark and thick."],
  ["Croissant", 2.2, "Baked this morning."],
  ["Blueberry muffin", 3.1, "With real blueberries."],
  ["Cheese sandwich", 4.9, "With mountain cheese."],
  ["Lemonade", 3.3, "Home made."],
];

const PRODUCTS = Array.from({ length: 40 }, (_, i) => {
  const [name, price, description] = KINDS[i % KINDS.length];
  return { n: i + 1, name: `${t(name)} ${i + 1}`, price, description: t(description) };
});

const money = (amount) => isGerman ? `${amount.toFixed(2).replace(".", ",")} $` : `$${amount.toFixed(2)}`;
const byId = (id) => document.getElementById(id);

const state = {
  get cart() { return JSON.parse(localStorage.getItem("cart") || "[]"); },
  set cart(items) { localStorage.setItem("cart", JSON.stringify(items)); },
};

const total = () => state.cart.reduce((sum, item) => sum + item.amount, 0);

function addToCart(product, quantity) {
  state.cart = [...state.cart, { name: product.name, amount: product.price * quantity, quantity }];
  // Beacons are for servers; pages that were opened as files have none.
  if (location.protocol.startsWith("http")) navigator.sendBeacon("/events", JSON.stringify({ event: "add-to-cart", product: product.name }));
  showCart();
}

function showCart() {
  const link = byId("open-cart");
  if (link) link.textContent = t("Cart ({})", state.cart.length);
}

/** Builds an element: `make("button", { textContent: "Add" }, child, ...)`. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const pages = {
  login() {
    byId("login").addEventListener("submit", (event) => {
      event.preventDefault();
      const [email, password] = [byId("email").value, byId("password").value];
      const error = !email ? "Enter your email"
        : !password ? "Enter your password"
        : password !== "secret" ? "Wrong email or password" : "";
      byId("error").textContent = "";
      // As slow as a server that has to think.
      setTimeout(() => {
        if (error) byId("error").textContent = t(error);
        else location.href = "products.html";
      }, 60);
    });
  },

  signup() {
    byId("signup").addEventListener("submit", (event) => {
      event.preventDefault();
      const [name, email] = [byId("full-name").value, byId("email").value];
      const error = !name ? "Enter your full name"
        : !email ? "Enter your email"
        : !email.includes("@") ? "Enter a valid email" : "";
      byId("error").textContent = "";
      setTimeout(() => {
        if (error) { byId("error").textContent = t(error); return; }
        sessionStorage.setItem("name", name);
        sessionStorage.setItem("email", email);
        location.href = "welcome.html";
      }, 60);
    });
  },

  welcome() {
    byId("welcome").textContent = t("Welcome, {}", sessionStorage.getItem("name") || t("friend"));
    byId("sent-to").textContent = t("We sent a link to {}.", sessionStorage.getItem("email") || t("you"));
  },

  products() {
    const list = byId("products");
    const show = () => {
      const wanted = byId("search").value.toLowerCase();
      const found = PRODUCTS.filter((product) => product.name.toLowerCase().includes(wanted));
      list.replaceChildren(...found.map((product) => make("li", {},
        make("a", { className: "what", href: `product.html?n=${product.n}`, textContent: product.name }),
        make("span", { className: "price", textContent: money(product.price) }),
        make("button", { textContent: t("Add"), onclick: () => addToCart(product, 1) }))));
      byId("nothing").hidden = found.length > 0;
    };
    byId("search").addEventListener("input", show);
    show();
  },

  product() {
    const n = Number(new URLSearchParams(location.search).get("n")) || 1;
    const product = PRODUCTS[n - 1] || PRODUCTS[0];
    let quantity = 1;
    byId("name").textContent = product.name;
    byId("price").textContent = money(product.price);
    byId("description").textContent = product.description;
    const show = () => {
      byId("quantity").textContent = quantity;
      byId("less").disabled = quantity === 1;
      byId("more").disabled = quantity === 9;
    };
    byId("less").onclick = () => { quantity -= 1; show(); };
    byId("more").onclick = () => { quantity += 1; show(); };
    byId("add").onclick = () => { addToCart(product, quantity); location.href = "cart.html"; };
    show();
  },

  cart() {
    const show = () => {
      const items = state.cart;
      byId("items").replaceChildren(...items.map((item, index) => make("li", {},
        make("span", { className: "what", textContent: `${item.quantity} x ${item.name}` }),
        make("span", { className: "price", textContent: money(item.amount) }),
        make("button", {
          textContent: t("Remove"),
          ariaLabel: t("Remove {}", item.name),
          onclick: () => {
            if (!confirm(t("Remove {} from the cart?", item.name))) return;
            state.cart = items.filter((_, place) => place !== index);
            show();
            showCart();
          },
        }))));
      byId("empty").hidden = items.length > 0;
      byId("checkout").disabled = items.length === 0;
      byId("total").textContent = t("Total {}", money(total()));
    };
    byId("checkout").onclick = () => { location.href = "checkout.html"; };
    show();
  },

  checkout() {
    byId("summary").textContent = t("{} items, total {}", state.cart.length, money(total()));
    byId("express").onchange = (event) => { byId("delivery").hidden = !event.target.checked; };
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const error = !byId("full-name").value ? "Enter your full name"
        : !byId("address").value ? "Enter your address" : "";
      byId("error").textContent = t(error);
      if (error) return;
      byId("pay").textContent = t("You pay {}.", money(total()));
      byId("confirm").showModal();
    });
    byId("cancel").onclick = () => byId("confirm").close();
    byId("place").onclick = () => {
      sessionStorage.setItem("name", byId("full-name").value);
      state.cart = [];
      location.href = "thanks.html";
    };
  },

  thanks() {
    byId("message").textContent = t("Your order is on its way, {}.", sessionStorage.getItem("name") || t("friend"));
  },
};

if (isGerman) translate();
pages[document.body.dataset.page]();
showCart();
