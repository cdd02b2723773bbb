// The report's behaviour: the detail panel, the keyboard, the filter, the theme.
// Texts from the run reach the page as text nodes only.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const data = JSON.parse(byId("data").textContent);
  const panel = byId("panel");
  const closeup = byId("closeup");
  const sessions = new Map(data.sessions.map((session) => [session.id, session]));

  /** An element; `props.class` and `props.href` are attributes, `on*` are listeners. */
  function el(tag, props, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name.startsWith("--")) node.style.setProperty(name, value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
    return node;
  }
  const sign = (mark) => el("i", { "aria-hidden": "true" }, data.marks[mark].sign);
  const word = (mark) => data.marks[mark].word;
  const cls = (mark) => "m-" + mark;
  /** A link to a file of the run; each part of its path is encoded. */
  const fileUrl = (path) => data.root + path.split("/").map(encodeURIComponent).join("/");

  // ---- What the address names: #s3, #s3-4, #s3.2-4, #t0 ----
  function target(hash) {
    const found = /^#(s\d+)(?:\.\d+)?(?:-(\d+))?$/.exec(hash);
    if (!found) return null;
    const session = sessions.get(found[1]);
    if (!session) return null;
    if (found[2] === undefined) return { session, attempt: session.attempts.at(-1), step: null, key: session.id };
    const id = hash.slice(1, hash.lastIndexOf("-"));
    const attempt = session.attempts.find((a) => a.id === id) || session.attempts.at(-1);
    const step = attempt && attempt.steps.find((s) => s.i === Number(found[2]));
    return step ? { session, attempt, step, key: attempt.id + "-" + step.i } : null;
  }

  // ---- Pictures and texts, kept once each ----
  const kept = (id) => byId(id).textContent;
  function picture(shot) {
    if (!shot) return null;
    if (shot.p !== undefined) return kept("picture-" + shot.p);
    return shot.h !== undefined ? fileUrl(shot.h) : null;
  }
  function enlarge(frames, place) {
    const show = (to) => {
      if (!frames[to]) return;
      place = to;
      closeup.replaceChildren(
        el("img", { src: frames[to].src, alt: frames[to].caption, onclick: () => closeup.close() }),
        el("p", {}, frames[to].caption, frames.length > 1 ? ` · ${to + 1} of ${frames.length}, ← →` : null),
      );
    };
    show(place);
    closeup.onkeydown = (event) => {
      if (event.key === "ArrowRight") show(place + 1);
      else if (event.key === "ArrowLeft") show(place - 1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    closeup.showModal();
  }
  closeup.addEventListener("click", (event) => { if (event.target === closeup) closeup.close(); });

  // ---- The grid: every cell is a link; arrows move between them ----
  const grids = all("table.grid").map((table) => {
    const rows = all("tr", table).map((row) => all(":scope > th.dev, :scope > td:not(.spread)", row)
      .map((cell) => cell.querySelector("a")));
    return { table, rows: rows.filter((row) => row.some((link) => link)) };
  });
  const places = new Map();
  for (const grid of grids) {
    grid.rows.forEach((row, r) => row.forEach((link, c) => {
      if (!link) return;
      link.tabIndex = -1;
      places.set(link, { grid, r, c });
    }));
    const first = grid.rows.flat().find((link) => link);
    if (first) first.tabIndex = 0;
  }
  const visible = (link) => link && !link.closest(".off, .gone");
  function step(link, dr, dc) {
    const from = places.get(link);
    if (!from) return null;
    for (let r = from.r + dr, c = from.c + dc; from.grid.rows[r] && c >= 0 && c < from.grid.rows[r].length; r += dr, c += dc) {
      if (visible(from.grid.rows[r][c])) return from.grid.rows[r][c];
    }
    return null;
  }
  function focusOn(link) {
    const { grid } = places.get(link);
    for (const other of grid.rows.flat()) if (other && other.tabIndex === 0) other.tabIndex = -1;
    link.tabIndex = 0;
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  /** The cell that shows a target: in its trail's grid, not in the overview. */
  function cellOf(found) {
    const last = found.session.attempts.at(-1);
    const key = found.step && last ? last.id + "-" + found.step.i : found.session.id;
    return all(`#t${found.session.trail} table.grid a`).find((link) => link.getAttribute("href") === "#" + key) || null;
  }

  // ---- The panel ----
  let current = null;
  let strip = "devices";

  function open(found, how) {
    const fresh = !current || current.key !== found.key;
    current = found;
    document.body.classList.add("open");
    panel.hidden = false;
    if (fresh || how === "redraw") {
      panel.replaceChildren(...(found.step ? stepParts(found) : sessionParts(found)));
      if (how !== "redraw") panel.scrollTop = 0;
      const here = panel.querySelector(".strip .here");
      if (here && strip === "steps") here.scrollIntoView({ block: "nearest", inline: "center" });
    }
    for (const link of all('.grid [aria-current="true"]')) link.removeAttribute("aria-current");
    const cell = cellOf(found);
    if (cell) {
      cell.setAttribute("aria-current", "true");
      if (visible(cell) && how !== "quiet") focusOn(cell);
    }
  }
  function close() {
    if (!current) return;
    const cell = cellOf(current);
    current = null;
    panel.hidden = true;
    document.body.classList.remove("open");
    for (const link of all('.grid [aria-current="true"]')) link.removeAttribute("aria-current");
    history.replaceState(null, "", location.pathname + location.search);
    if (cell) focusOn(cell);
  }
  function go(key, how) {
    history.replaceState(null, "", "#" + key);
    const found = target("#" + key);
    if (found) open(found, how);
  }
  const goTo = (link) => { if (link) go(link.getAttribute("href").slice(1)); };

  function bar(found) {
    const cell = cellOf(found);
    const move = (label, sign, dr, dc) => {
      const next = cell && step(cell, dr, dc);
      return el("button", { type: "button", title: label, "aria-label": label, disabled: !next, onclick: () => goTo(next) }, sign);
    };
    return el("div", { class: "bar" },
      move("Previous device", "←", 0, -1), move("Next device", "→", 0, 1),
      move("Previous step", "↑", -1, 0), move("Next step", "↓", 1, 0),
      el("span", { class: "grow" }, data.trails[found.session.trail].title),
      el("button", { type: "button", title: "Close (Esc)", "aria-label": "Close", onclick: close }, "×"));
  }
  function deviceFacts(session) {
    const device = session.device;
    const facts = [device.model, device.id, device.system, device.screen, device.driver].filter(Boolean);
    return el("p", { class: "facts" }, facts.map((fact) => el("span", {}, fact)));
  }
  /** Texts write code between backticks. */
  function withCode(text) {
    const pieces = text.split("`");
    return pieces.length % 2 ? pieces.map((piece, i) => i % 2 ? el("code", {}, piece) : piece) : text;
  }
  function cluster(session) {
    if (!session.letter) return null;
    const count = data.order[session.trail].length;
    return el("span", { class: cls(session.mark) }, el("b", { class: "l" }, session.letter), ` ${session.alike} of ${count} devices ${session.alike === 1 ? "has" : "have"} this result`);
  }
  function attempts(found) {
    const list = found.session.attempts;
    if (list.length < 2) return null;
    return el("div", { class: "tabs", role: "group", "aria-label": "Attempts" }, list.map((attempt) => el("a", {
      class: cls(attempt.mark),
      href: "#" + attempt.id + "-" + (found.step ? found.step.i : (attempt.bad ?? attempt.steps[0]?.i ?? 0)),
      "aria-current": found.step && attempt === found.attempt ? "true" : null,
    }, sign(attempt.mark), ` attempt ${attempt.n} · ${attempt.time}`)));
  }
  function lead(found, shown, time, title) {
    const mark = shown.mark;
    return el("div", { class: "lead" },
      el("h2", {}, el("span", { class: "pill " + cls(mark) }, data.marks[mark].sign, " ", shown.word || word(mark)), title),
      deviceFacts(found.session),
      el("p", { class: "facts" }, time, cluster(found.session)),
      attempts(found));
  }
  const part = (title, tools, ...children) => el("section", { class: "part" }, el("h3", {}, title, tools), ...children);

  function trouble(mark, said) {
    if (!said || !said.message) return null;
    return el("section", { class: "part" }, el("div", { class: "trouble " + cls(mark) },
      el("p", { class: "message" }, withCode(said.message)),
      said.hint ? el("p", { class: "hint" }, withCode(said.hint)) : null,
      said.at ? el("p", { class: "at" }, said.at) : null,
      said.log && said.log.length ? el("ol", { "aria-label": "What was tried" }, said.log.map((line) => el("li", {}, line))) : null));
  }

  function figure(frames, place, here, key, caption, mark, detail, shot) {
    const src = picture(shot);
    const frame = src ? frames.push({ src, caption: place }) - 1 : -1;
    return el("figure", { class: here ? "here" : null },
      src
        ? el("button", { type: "button", title: "Enlarge", onclick: () => enlarge(frames, frame) },
          el("img", { src, alt: "Screenshot: " + place, loading: "lazy", decoding: "async" }))
        : el("div", { class: "none" }, shot ? "file missing" : "no screenshot"),
      el("figcaption", { class: cls(mark) },
        el("a", { href: "#" + key, "aria-current": here ? "true" : null }, sign(mark), " ", caption), detail));
  }
  /**
   * This step on every device: the one looked at stays in sight, next to it one on which all went
   * well, of the same platform if there is one, and the others scroll past it.
   */
  function acrossDevices(found) {
    const frames = [];
    const platform = (session) => session.device.id.split("/")[0];
    const passed = data.reference[found.session.trail].map((place) => data.sessions[place])
      .filter((session) => session !== found.session);
    const model = passed.find((session) => platform(session) === platform(found.session)) || passed[0];
    const others = data.order[found.session.trail].map((place) => data.sessions[place])
      .filter((session) => session !== found.session && session !== model);
    if (model) others.unshift(model);
    const draw = (session, attempt, here) => {
      const at = attempt && attempt.steps.find((s) => s.i === found.step.i);
      if (!at || at.mark === "not_run") return null;
      return figure(frames, `${session.device.label} — ${word(at.mark)}`, here, attempt.id + "-" + at.i,
        session.device.label, at.mark, at.time, at.shots && at.shots.at(-1));
    };
    return [draw(found.session, found.attempt, true), ...others.filter((session) => session.shown !== false).map((session) => draw(session, session.attempts.at(-1), false))];
  }
  /** Every step on this device. */
  function acrossSteps(found) {
    const frames = [];
    return found.attempt.steps.filter((s) => s.mark !== "not_run").map((s) => {
      const text = stepText(found.session.trail, s.i);
      return figure(frames, `${text.label} ${text.text} — ${word(s.mark)}`, found.step && s.i === found.step.i,
        found.attempt.id + "-" + s.i, text.label, s.mark, s.time, s.shots && s.shots.at(-1));
    });
  }
  function screens(found) {
    const across = found.step ? strip : "steps";
    const figures = (across === "devices" ? acrossDevices(found) : acrossSteps(found)).filter(Boolean);
    if (!figures.some((figure) => figure.querySelector("img"))) return null;
    const choose = (which, label) => el("button", { type: "button", "aria-pressed": String(across === which), onclick: () => { strip = which; open(found, "redraw"); } }, label);
    return part("Screens",
      found.step ? el("span", { class: "tabs" }, choose("devices", "this step, every device"), choose("steps", "this device, every step")) : null,
      el("div", { class: "strip" }, figures));
  }

  function plainValue(value, nested) {
    if (value === null || typeof value !== "object") return nested || typeof value !== "string" ? JSON.stringify(value) : value;
    if (Array.isArray(value)) return "[" + value.map((v) => plainValue(v, true)).join(", ") + "]";
    return "{ " + Object.entries(value).map(([k, v]) => k + ": " + plainValue(v, true)).join(", ") + " }";
  }
  function args(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "object" || Array.isArray(value)) return plainValue(value, true);
    return Object.entries(value).map(([k, v]) => k + ": " + plainValue(v, true)).join("\n");
  }
  function calls(list) {
    if (!list || !list.length) return null;
    return part("Tool calls", null, el("div", { class: "calls" }, list.map((call) => {
      const given = args(call.args);
      return el("div", { class: "call " + cls(call.mark), "--depth": String(Math.min(call.depth || 0, 8)) },
        sign(call.mark),
        el("div", {}, el("span", { class: "tool" }, call.tool), el("span", { class: "unseen" }, " " + word(call.mark)),
          given ? el("div", { class: "args" }, given) : null),
        el("span", { class: "time" }, call.time),
        call.by ? el("p", { class: "more" }, "found by ", el("code", {}, call.by),
          call.matched > 1 ? el("span", { class: "badge" }, `${call.matched} matched`) : null) : null,
        (call.notes || []).map((note) => el("p", { class: "more" }, "note: ", note)),
        call.said ? el("p", { class: "more bad" }, call.said) : null,
        call.answer ? el("p", { class: "more" }, "answered ", el("code", {}, call.answer)) : null,
        call.via ? el("p", { class: "more" }, call.via, call.log ? [", ", el("a", { href: fileUrl(call.log), target: "_blank", rel: "noopener" }, "its log")] : null) : null);
    })));
  }
  function reports(list, more) {
    if (!list || !list.length) return null;
    return part("Console and events", null, el("ul", { class: "reports" }, list.map((report) => el("li", { class: report.bad ? "bad" : null },
      el("span", { class: "level" }, report.bad ? "! " : "", report.level),
      el("span", { class: "said" }, report.text, report.src ? el("span", { class: "src" }, "  " + report.src) : null))),
      more ? el("li", {}, el("span", {}), `and ${more} more`) : null));
  }
  const screenText = (texts) => (texts || []).map((text) => part(text.label, null, el("pre", { tabindex: "0" }, JSON.parse(kept("text-" + text.n)))));
  function files(list) {
    if (!list || !list.length) return null;
    return part("Files", null, el("ul", { class: "files" }, list.map((file) => el("li", {},
      el("a", { href: fileUrl(file.path), target: "_blank", rel: "noopener" }, file.path), el("span", {}, file.kind), el("span", {}, file.size)))));
  }
  function stepText(trail, i) {
    const known = data.trails[trail].steps.find((s) => s.i === i);
    const label = i === 0 ? "Trailhead" : String(i);
    return known ? { label, text: known.text, kind: known.kind, line: known.line } : { label, text: "", kind: "step", line: null };
  }
  function stepParts(found) {
    const at = found.step;
    const text = stepText(found.session.trail, at.i);
    const where = text.line ? `${data.trails[found.session.trail].path}:${text.line}` : null;
    const facts = [at.time && `took ${at.time}`, where].filter(Boolean);
    return [
      bar(found),
      lead(found, at, facts.map((fact) => el("span", {}, fact)), `${text.label}  ${text.kind === "verify" ? "verify: " : ""}${text.text}`),
      trouble(at.mark, at.said),
      screens(found),
      calls(at.calls),
      reports(at.reports, at.more),
      screenText(at.texts),
      files(at.files),
    ].flat().filter(Boolean);
  }
  function sessionParts(found) {
    const session = found.session;
    const attempt = found.attempt;
    const bad = attempt && attempt.steps.find((s) => s.i === attempt.bad);
    return [
      bar(found),
      lead(found, session, [session.time && el("span", {}, session.time), session.attempts.length > 1 ? el("span", {}, `${session.attempts.length} attempts`) : null], data.trails[session.trail].title),
      bad && bad.said ? trouble(bad.mark, bad.said) : trouble(session.mark, session.said),
      attempt ? screens(found) : null,
      attempt ? part("Steps", null, el("table", { class: "rows" }, attempt.steps.map((s) => {
        const text = stepText(session.trail, s.i);
        return el("tr", { class: cls(s.mark) }, el("td", {}, sign(s.mark)), el("td", {}, text.label),
          el("td", {}, el("a", { href: "#" + attempt.id + "-" + s.i }, text.text || "step")), el("td", {}, s.time || word(s.mark)));
      }))) : null,
    ].flat().filter(Boolean);
  }

  for (const button of all(".all-divergences")) {
    button.addEventListener("click", () => {
      for (const item of all(".late", button.parentNode)) item.classList.remove("late");
      button.remove();
    });
  }

  // ---- Filter: every word must occur, a word with a minus must not; is:failed means the mark ----
  const filter = byId("filter");
  const presses = all("[data-filter]");
  function applyFilter() {
    const words = filter.value.toLowerCase().match(/-?"[^"]*"|\S+/g) || [];
    const tests = words.map((w) => {
      const not = w.startsWith("-") && w.length > 1;
      return { not, text: (not ? w.slice(1) : w).replaceAll('"', "") };
    }).filter((test) => test.text);
    for (const session of data.sessions) {
      const has = (text) => text.startsWith("is:") ? text === "is:" + session.mark : session.find.includes(text);
      session.shown = tests.every((test) => has(test.text) !== test.not);
    }
    const shown = (id) => sessions.get(id)?.shown !== false;
    for (const grid of grids) {
      const heads = all("thead th.dev", grid.table);
      const overview = heads.length > 0 && heads[0].dataset.s === undefined;
      const keep = heads.map((head, c) => overview
        ? grid.rows.some((row) => row[c] && shown(row[c].parentNode.dataset.s))
        : shown(head.dataset.s));
      heads.forEach((head, c) => head.classList.toggle("off", !keep[c]));
      for (const row of all("tbody tr", grid.table)) {
        all(":scope > td:not(.spread)", row).forEach((cell, c) => {
          cell.classList.toggle("off", !keep[c]);
          if (overview && cell.firstElementChild) cell.firstElementChild.classList.toggle("gone", !shown(cell.dataset.s));
        });
        if (overview) row.classList.toggle("off", !all(":scope > td[data-s]", row).some((cell) => shown(cell.dataset.s)));
      }
    }
    for (const item of all("[data-sessions]")) item.classList.toggle("off", !item.dataset.sessions.split(" ").some(shown));
    for (const section of all("section.trail")) {
      section.classList.toggle("off", !data.sessions.some((session) => session.trail === Number(section.dataset.trail) && session.shown !== false));
    }
    byId("nothing").hidden = data.sessions.some((session) => session.shown) || data.sessions.length === 0;
    for (const press of presses) press.setAttribute("aria-pressed", String(filter.value === press.dataset.filter));
    if (current) open(current, "redraw");
  }
  let soon = 0;
  filter.addEventListener("input", () => { clearTimeout(soon); soon = setTimeout(applyFilter, 80); });
  for (const press of presses) {
    press.setAttribute("aria-pressed", "false");
    press.addEventListener("click", () => {
      filter.value = filter.value === press.dataset.filter ? "" : press.dataset.filter;
      applyFilter();
    });
  }

  // ---- Keyboard ----
  const troubles = () => all("section.trail .divergences .letter, section.trail td a.first").filter(visible)
    .map((link) => link.getAttribute("href").slice(1)).filter((key, i, keys) => keys.indexOf(key) === i);
  document.addEventListener("keydown", (event) => {
    if (closeup.open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === filter) {
      if (event.key === "Escape") { filter.value = ""; applyFilter(); filter.blur(); }
      return;
    }
    const link = places.has(event.target) ? event.target : null;
    const arrows = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key === "/") filter.focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && link && current && link.getAttribute("aria-current")) panel.focus();
    else if (arrows[event.key] && (link || (current && !panel.contains(event.target)))) {
      const from = link || cellOf(current);
      const next = from && step(from, ...arrows[event.key]);
      if (next && current) goTo(next);
      else if (next) focusOn(next);
    } else if ((event.key === "n" || event.key === "p") && !event.shiftKey) {
      const keys = troubles();
      if (!keys.length) return;
      const at = current ? keys.indexOf(current.key) : -1;
      go(keys[(at + (event.key === "n" ? 1 : at < 0 ? 0 : -1) + keys.length) % keys.length]);
    } else return;
    event.preventDefault();
  });

  // ---- Links within the page ----
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#s"]');
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.getAttribute("href").slice(1));
  });
  function follow() {
    const found = target(location.hash);
    if (found) open(found);
  }
  window.addEventListener("hashchange", follow);

  // ---- Theme: the system's unless chosen ----
  const themes = ["system", "light", "dark"];
  const remember = (name) => { try { localStorage.setItem("packtrain-theme", name); } catch { /* file:// may forbid it */ } };
  const recall = () => { try { return localStorage.getItem("packtrain-theme"); } catch { return null; } };
  function theme(name) {
    const known = themes.includes(name) ? name : "system";
    document.documentElement.style.colorScheme = known === "system" ? "" : known;
    byId("theme-name").textContent = known;
    return known;
  }
  let chosen = theme(recall());
  byId("theme").addEventListener("click", () => {
    chosen = theme(themes[(themes.indexOf(chosen) + 1) % themes.length]);
    remember(chosen);
  });

  follow();
})();
