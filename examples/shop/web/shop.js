// The example shop. Everything it remembers is in localStorage, so that each browser context has
// a shop of its own.
"use strict";

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
  return { n: i + 1, name: `${name} ${i + 1}`, price, description };
});

const money = (amount) => `$${amount.toFixed(2)}`;
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
  if (link) link.textContent = `Cart (${state.cart.length})`;
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
        if (error) byId("error").textContent = error;
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
        if (error) { byId("error").textContent = error; return; }
        sessionStorage.setItem("name", name);
        sessionStorage.setItem("email", email);
        location.href = "welcome.html";
      }, 60);
    });
  },

  welcome() {
    byId("welcome").textContent = `Welcome, ${sessionStorage.getItem("name") || "friend"}`;
    byId("sent-to").textContent = `We sent a link to ${sessionStorage.getItem("email") || "you"}.`;
  },

  products() {
    const list = byId("products");
    const show = () => {
      const wanted = byId("search").value.toLowerCase();
      const found = PRODUCTS.filter((product) => product.name.toLowerCase().includes(wanted));
      list.replaceChildren(...found.map((product) => make("li", {},
        make("a", { className: "what", href: `product.html?n=${product.n}`, textContent: product.name }),
        make("span", { className: "price", textContent: money(product.price) }),
        make("button", { textContent: "Add", onclick: () => addToCart(product, 1) }))));
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
          textContent: "Remove",
          ariaLabel: `Remove ${item.name}`,
          onclick: () => {
            if (!confirm(`Remove ${item.name} from the cart?`)) return;
            state.cart = items.filter((_, place) => place !== index);
            show();
            showCart();
          },
        }))));
      byId("empty").hidden = items.length > 0;
      byId("checkout").disabled = items.length === 0;
      byId("total").textContent = `Total ${money(total())}`;
    };
    byId("checkout").onclick = () => { location.href = "checkout.html"; };
    show();
  },

  checkout() {
    byId("summary").textContent = `${state.cart.length} items, total ${money(total())}`;
    byId("express").onchange = (event) => { byId("delivery").hidden = !event.target.checked; };
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      const error = !byId("full-name").value ? "Enter your full name"
        : !byId("address").value ? "Enter your address" : "";
      byId("error").textContent = error;
      if (error) return;
      byId("pay").textContent = `You pay ${money(total())}.`;
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
    byId("message").textContent = `Your order is on its way, ${sessionStorage.getItem("name") || "friend"}.`;
  },
};

pages[document.body.dataset.page]();
showCart();
