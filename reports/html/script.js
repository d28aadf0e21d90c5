"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  // make makes an element. Text is always a text node: what comes from the trace is never markup.
  const make = (tag, cls, text) => {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const SVG = "http://www.w3.org/2000/svg";
  const draw = (tag, cls, attrs) => {
    const e = document.createElementNS(SVG, tag);
    if (cls) e.setAttribute("class", cls);
    for (const k in attrs) e.setAttribute(k, attrs[k]);
    return e;
  };

  for (const b of document.querySelectorAll("button.copy")) {
    if (!navigator.clipboard) continue;
    b.hidden = false;
    b.addEventListener("click", () => navigator.clipboard.writeText(b.previousElementSibling.textContent).then(() => { b.textContent = "Copied"; }, () => {}));
  }
  if (!$("data")) return;

  // The data, as data.go writes it.
  const data = JSON.parse($("data").textContent);
  const text = (n) => data.texts[n];
  const rows = data.rows.map((r) => r[2] === -2
    ? { n: r[0], at: r[1], gap: r[3], effects: r[4], lane: -1, texts: [], keys: [], marks: [], arrows: [] }
    : { n: r[0], at: r[1], lane: r[2], choice: r[3], texts: r[4], keys: r[5], marks: r[6], arrows: r[7], effects: r[8], notable: r[9] });
  const lanes = data.lanes.map((l, i) => ({ name: l[0], role: l[1], owner: l[2], i }));
  const parts = data.parts.map((p) => ({ lane: p[0], kind: p[1], follows: p[2] }));
  const bands = (data.bands || []).map((b) => ({ lane: b[0], from: b[1], to: b[2], text: text(b[3]), fault: b[4] }));
  const because = new Set(data.because || []);
  const involved = data.involved || [];
  const violation = data.violation || 0;
  if (rows.length === 0) return;

  const clock = (ns) => {
    const ms = Math.round(ns / 1e6);
    if (ms < 1000) return ms ? ms + "ms" : "0s";
    const s = Math.floor(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60);
    const sec = (s % 60) + (ms % 1000 && !h ? "." + String(ms % 1000).padStart(3, "0").replace(/0+$/, "") : "");
    return (h ? h + "h" : "") + (m ? (m % 60) + "m" : "") + sec + "s";
  };
  const label = (r) => r.gap ? `${r.gap} step${r.gap === 1 ? "" : "s"} left out` : r.texts.length ? r.texts.map(text).join(" · ") : text(r.choice);

  // States: every 200 rows a checkpoint, from which the state after any row is computed.
  const every = 200;
  const checkpoints = [];
  const apply = (state, r) => {
    for (const [part, key, rv, note] of r.effects) {
      const items = state[part];
      if (rv === undefined) items.delete(key);
      else items.set(key, { rv, note, at: r.at, n: r.n });
    }
  };
  const copy = (state) => state.map((items) => new Map(items));
  const stateAfter = (row) => { // row -1 is the beginning
    const c = Math.min(Math.floor((row + 1) / every), checkpoints.length - 1);
    const state = copy(checkpoints[c]);
    for (let i = c * every; i <= row; i++) apply(state, rows[i]);
    return state;
  };
  {
    const state = parts.map(() => new Map());
    rows.forEach((r, i) => {
      if (i % every === 0) checkpoints.push(copy(state));
      apply(state, r);
    });
  }

  // What is shown: the rows and the lanes, which the reader chooses.
  let shown = [], place = [], columns = [], column = [], cursor = 0, height = 24;
  const heights = [7, 24, 34];
  const narrow = () => innerWidth <= 600;
  const gutter = () => narrow() ? 38 : 122;
  const wide = () => narrow() ? 17 : 27;

  const chosen = () => $("focus").value;
  const matters = (r) => {
    const key = chosen();
    if (key === "all" || because.has(r.n) || r.n === violation) return true;
    if (!r.gap && !pairs(r.marks, 2).some(([lane]) => column[lane] >= 0)) return false;
    return r.keys.some((k) => k === +key) || r.notable === 1;
  };
  const lanesShown = () => {
    if ($("which").value === "all") return lanes.map((l) => l.i);
    const owners = new Set(), used = new Set();
    const v = rows.find((r) => r.n === violation);
    const some = v ? [v, ...rows.filter((r) => because.has(r.n))] : [];
    for (const r of some) for (const [lane] of pairs(r.marks, 2)) { used.add(lane); if (lanes[lane].owner) owners.add(lanes[lane].owner); }
    if (owners.size === 0) for (const r of rows) if (r.keys.some((k) => involved.includes(k))) for (const [lane] of pairs(r.marks, 2)) { used.add(lane); owners.add(lanes[lane].owner); }
    if (used.size === 0) return lanes.map((l) => l.i);
    return lanes.filter((l) => l.role === "store" || l.role === "replica" || l.role === "body" || used.has(l.i) || l.owner && owners.has(l.owner)).map((l) => l.i);
  };
  const pairs = (flat, n) => {
    const all = [];
    for (let i = 0; i < flat.length; i += n) all.push(flat.slice(i, i + n));
    return all;
  };
  // rowOf returns the index of the shown row of a step, or of the last one before it.
  const rowOf = (n) => {
    let low = 0, high = shown.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (rows[shown[mid]].n <= n) low = mid; else high = mid - 1;
    }
    return low;
  };

  let arrows = [];
  const arrange = () => {
    const at = shown.length ? rows[shown[cursor]].n : 0;
    columns = lanesShown();
    column = lanes.map(() => -1);
    columns.forEach((lane, i) => { column[lane] = i; });
    shown = rows.map((_, i) => i).filter((i) => matters(rows[i]));
    if (shown.length === 0) shown = rows.map((_, i) => i);
    arrows = [];
    shown.forEach((i, to) => {
      for (const [from, fromLane, toLane, lost] of pairs(rows[i].arrows, 4)) {
        if (column[fromLane] < 0 || column[toLane] < 0) continue;
        const f = rowOf(from);
        if (rows[shown[f]].n > from) continue; // it began in a stretch that is left out, before all that is shown
        arrows.push([f, to, column[fromLane], column[toLane], lost]);
      }
    });
    heads();
    $("sheet").style.height = shown.length * height + "px";
    move(rowOf(at), true);
  };

  const x = (c) => gutter() + 14 + c * wide();
  const paperWidth = () => x(columns.length - 1) + 14;

  const heads = () => {
    const box = $("heads");
    box.textContent = "";
    let longest = 0;
    columns.forEach((lane, i) => {
      const s = make("span", "", lanes[lane].name);
      s.style.left = x(i) + "px";
      longest = Math.max(longest, lanes[lane].name.length);
      s.dataset.lane = lane;
      box.append(s);
    });
    box.style.height = Math.min(Math.max(longest * 6.6 + 14, 50), 140) + "px";
  };

  // paint draws the rows in view.
  const sheet = make("div");
  sheet.id = "sheet";
  $("scroll").append(sheet);
  let painted = "";
  const paint = (force) => {
    const view = $("scroll"), top = view.scrollTop, extra = 12;
    const first = Math.max(0, Math.floor(top / height) - extra);
    const last = Math.min(shown.length - 1, Math.ceil((top + view.clientHeight) / height) + extra);
    const what = [first, last, height, cursor, columns.length].join();
    if (!force && what === painted) return;
    painted = what;
    const y = (r) => (r + 0.5) * height;
    const svg = draw("svg", "", { width: paperWidth(), height: shown.length * height, "aria-hidden": "true" });
    svg.style.top = "0";
    const y0 = first * height, y1 = (last + 1) * height;
    for (const b of bands) {
      const c = column[b.lane];
      if (c < 0) continue;
      const from = rowOf(b.from), to = rowOf(b.to);
      if (to < first || from > last) continue;
      const e = draw("rect", b.fault ? "band bad" : "band", { x: x(c) - 8, y: y(from), width: 16, height: Math.max(y(to) - y(from), 3) });
      svg.append(e);
    }
    columns.forEach((_, i) => svg.append(draw("line", "lane", { x1: x(i), x2: x(i), y1: y0, y2: y1 })));
    for (const [from, to, c1, c2, lost] of arrows) {
      if (to < first || from > last) continue;
      const ax = x(c1), ay = y(from), bx = x(c2), by = y(to), size = Math.min(5, height / 3 + 1);
      if (lost) {
        const cx = bx + (ax < bx ? -9 : 9);
        svg.append(draw("line", "lost", { x1: ax, y1: ay, x2: cx, y2: by }));
        svg.append(draw("path", "cross", { d: `M${cx - 4} ${by - 4}l8 8m0 -8l-8 8` }));
        continue;
      }
      const d = Math.hypot(bx - ax, by - ay) || 1, ux = (bx - ax) / d, uy = (by - ay) / d;
      const ex = bx - ux * 5, ey = by - uy * 5;
      svg.append(draw("line", "arrow", { x1: ax, y1: ay, x2: ex, y2: ey }));
      svg.append(draw("path", "head", { d: `M${bx - ux * 3} ${by - uy * 3}L${ex - ux * size - uy * size * .6} ${ey - uy * size + ux * size * .6}L${ex - ux * size + uy * size * .6} ${ey - uy * size - ux * size * .6}Z` }));
    }
    const list = document.createDocumentFragment();
    for (let i = first; i <= last; i++) {
      const r = rows[shown[i]];
      const e = make("div", "row" + (r.gap ? " gap" : "") + (r.n === violation && !r.gap ? " violation" : "") + (because.has(r.n) ? " because" : ""));
      e.id = "row-" + i;
      e.style.top = i * height + "px";
      e.style.height = height + "px";
      e.dataset.row = i;
      e.setAttribute("role", "option");
      e.setAttribute("aria-selected", i === cursor);
      e.setAttribute("aria-setsize", shown.length);
      e.setAttribute("aria-posinset", i + 1);
      const before = i > 0 ? rows[shown[i - 1]].at : -1;
      e.append(make("span", "n", r.gap ? "…" : String(r.n)), make("span", "t", r.at !== before ? clock(r.at) : ""));
      const what = make("span", "what", (r.n === violation && !r.gap ? "✕ " : "") + label(r));
      what.style.marginLeft = paperWidth() - gutter() + 6 + (narrow() ? 4 : 6) + "px";
      e.append(what);
      list.append(e);
      for (const [lane, shape] of pairs(r.marks, 2)) {
        if (column[lane] >= 0) svg.append(mark(data.shapes[shape], x(column[lane]), y(i)));
      }
    }
    sheet.replaceChildren(list, svg);
    $("scroll").setAttribute("aria-activedescendant", "row-" + cursor);
  };

  const mark = (shape, cx, cy) => {
    const s = Math.min(4, height / 2.2);
    switch (shape) {
      case "fault": return draw("path", "fault", { d: `M${cx} ${cy - s * 1.5}L${cx + s * 1.5} ${cy}L${cx} ${cy + s * 1.5}L${cx - s * 1.5} ${cy}Z` });
      case "lost": return draw("path", "cross", { d: `M${cx - s} ${cy - s}l${2 * s} ${2 * s}m0 ${-2 * s}l${-2 * s} ${2 * s}` });
      case "write": return draw("rect", "write", { x: cx - s, y: cy - s, width: 2 * s, height: 2 * s });
      case "list": return draw("circle", "list", { cx, cy, r: s });
      default: return draw("circle", "dot", { cx, cy, r: Math.min(3, s) });
    }
  };

  // The panel: what the step did, and the state after it, compared with the one before.
  const named = (key) => text(key);
  const titles = {
    queue: "by what was delivered", indexer: "Indexer", ring: "still to be told", told: "was told", work: "keys", requests: "requests and watches", reflector: "", process: "",
    delivered: "was sent", applied: "watch cache", store: "objects", held: "holds",
  };
  const listed = new Set(["queue", "indexer", "ring", "work", "requests", "reflector", "process", "held"]);
  const most = 14;
  const itemText = (kind, key, v) => {
    const rv = v.rv ? "rv=" + v.rv : "", note = text(v.note);
    switch (kind) {
      case "reflector": case "process": return note;
      case "requests": return named(key) + ": " + note;
      case "indexer": return `${named(key)} ${rv}`;
      default: return [named(key), rv, note ? "(" + note + ")" : ""].filter(Boolean).join(" ");
    }
  };
  const panel = () => {
    const r = rows[shown[cursor]];
    $("now").textContent = (r.gap ? "After step " + (r.n + r.gap - 1) : "Step " + r.n) + ", " + clock(r.at) + (r.n === violation && !r.gap ? ": the violation" : "");
    $("said").replaceChildren(...(r.gap ? [label(r)] : [text(r.choice), ...r.texts.map(text)]).map((t) => make("li", "", t)));
    const before = stateAfter(shown[cursor] - 1), after = copy(before);
    apply(after, rows[shown[cursor]]);
    const box = $("state");
    box.textContent = "";
    keyTable(box, after, r.at);
    let head = "";
    parts.map((p, i) => [p, i]).filter(([p]) => column[p.lane] >= 0 && listed.has(p.kind)).sort((a, b) => a[0].lane - b[0].lane).forEach(([p, i]) => {
      if (before[i].size === 0 && after[i].size === 0 && !["queue", "indexer", "ring"].includes(p.kind)) return;
      const lane = lanes[p.lane].name, word = titles[p.kind];
      const name = lane.endsWith(word) ? lane : lane + (word ? ": " + word : "");
      if (name !== head) box.append(make("h4", "", name));
      head = name;
      box.append(items(p.kind, before[i], after[i]));
    });
  };
  const items = (kind, before, after) => {
    const ul = make("ul");
    const add = (cls, sign, t) => {
      const li = make("li", cls);
      li.append(make("span", "", sign), make("span", "", t));
      ul.append(li);
    };
    let n = 0, more = 0;
    for (const [key, v] of before) {
      if (!after.has(key)) add("gone", "−", itemText(kind, key, v));
    }
    for (const [key, v] of after) {
      const was = before.get(key), same = was && was.rv === v.rv && was.note === v.note;
      if (same && ++n > most) { more++; continue; }
      if (!was) add("added", "+", itemText(kind, key, v));
      else if (!same) add("changed", "→", itemText(kind, key, v) + (was.rv !== v.rv ? `, was rv=${was.rv}` : ""));
      else add("", "", itemText(kind, key, v));
    }
    if (more) add("none", "", `and ${more} more`);
    if (before.size === 0 && after.size === 0) add("none", "", "empty");
    return ul;
  };
  // keyTable compares, for each object involved, what the store has with what everyone else has.
  const keyTable = (box, state, at) => {
    const find = (kind) => parts.map((p, i) => [p, i]).filter(([p]) => p.kind === kind && column[p.lane] >= 0);
    const store = parts.findIndex((p) => p.kind === "store");
    const everywhere = [...find("delivered"), ...find("indexer"), ...find("told")].sort((a, b) => a[0].lane - b[0].lane || a[1] - b[1]);
    if (store < 0 || everywhere.length === 0) return;
    const here = rows[shown[cursor]].keys;
    const keys = [...new Set([...involved.slice(0, 4), ...here])].slice(0, 6);
    for (const key of keys) {
      const truth = state[store].get(key);
      const places = everywhere.filter(([p]) => p.follows.includes(text(key).split(" ")[0]));
      if (places.length === 0) {
        box.append(make("p", "agree", named(key) + ": " + (truth ? `rv=${truth.rv} in the store; nobody follows it` : "not in the store; nobody follows it")));
        continue;
      }
      if (places.every(([, i]) => (state[i].get(key)?.rv || 0) === (truth ? truth.rv : 0))) {
        box.append(make("p", "agree", named(key) + ": " + (truth ? `all have rv=${truth.rv}, like the store` : "nobody has it; it is not in the store")));
        continue;
      }
      const table = make("table"), caption = make("caption", "", named(key) + ": " + (truth ? "rv=" + truth.rv + " in the store" : "not in the store"));
      table.append(caption);
      for (const [p, i] of places) {
        const v = state[i].get(key);
        const tr = make("tr"), same = (v ? v.rv : 0) === (truth ? truth.rv : 0);
        tr.append(make("td", "", lanes[p.lane].name + (p.kind === "delivered" ? " was sent" : p.kind === "told" ? " was told" : "")));
        tr.append(make("td", same ? "" : "stale", v ? "rv=" + v.rv : "nothing"));
        const since = truth ? truth.at : removed(key);
        tr.append(make("td", same ? "" : "stale", same ? "" : since >= 0 && at >= since ? "✕ stale for " + clock(at - since) : "✕ differs"));
        table.append(tr);
      }
      box.append(table);
    }
  };
  // removed returns the virtual time at which the store last lost a key, up to the cursor; -1 if it did not.
  const removed = (key) => {
    const store = parts.findIndex((p) => p.kind === "store");
    for (let i = shown[cursor]; i >= 0; i--) {
      for (const [part, k, rv] of rows[i].effects) if (part === store && k === key) return rv === undefined ? rows[i].at : -1;
    }
    return -1;
  };

  const move = (to, force) => {
    cursor = Math.max(0, Math.min(shown.length - 1, to));
    const view = $("scroll"), y = cursor * height;
    if (force || y < view.scrollTop + height || y > view.scrollTop + view.clientHeight - 3 * height) view.scrollTop = Math.max(0, y - view.clientHeight * (force ? .5 : y < view.scrollTop + height ? .3 : .7));
    paint(true);
    panel();
    $("prev").disabled = cursor === 0;
    $("next").disabled = cursor === shown.length - 1;
    const r = rows[shown[cursor]];
    for (const s of $("heads").children) s.classList.toggle("here", pairs(r.marks, 2).some(([lane]) => lane === +s.dataset.lane));
    document.documentElement.dataset.step = r.n;
  };
  const goTo = (n) => {
    let row = rowOf(n);
    if (rows[shown[row]].n !== n && chosen() !== "all") { // it is there, but not among those chosen
      if (rows.some((r) => r.n === n && !r.gap)) { $("focus").value = "all"; arrange(); row = rowOf(n); }
    }
    move(row, true);
  };
  const toViolation = () => goTo(violation || rows[rows.length - 1].n);
  const zoom = (by) => {
    height = heights[Math.max(0, Math.min(heights.length - 1, heights.indexOf(height) + by))];
    sheet.classList.toggle("tiny", height < 12);
    sheet.style.height = shown.length * height + "px";
    $("in").disabled = height === heights[heights.length - 1];
    $("out").disabled = height === heights[0];
    move(cursor, true);
  };

  const option = (value, t) => { const o = make("option", "", t); o.value = value; return o; };
  const short = (s) => s.length > 60 ? s.slice(0, 59) + "…" : s;
  $("focus").append(option("all", "all"), ...involved.slice(0, 40).map((k) => option(k, "about " + short(named(k)))));
  if (data.named && involved.length && violation && rows.length > 60) $("focus").value = String(involved[0]);
  if (!violation) { $("jump").textContent = "End"; $("jump").title = "Jump to the end (v)"; }
  if (lanes.length < 9 && !narrow()) $("which").value = "all";

  const legend = [["write", "write"], ["list", "list"], ["event", "another event"], ["fault", "fault"], ["lost", "broken or lost"]];
  for (const [shape, t] of legend) {
    const s = make("span"), svg = draw("svg", "", { viewBox: "0 0 14 12", "aria-hidden": "true" });
    svg.append(mark(shape, 7, 6));
    s.append(svg, t);
    $("legend").append(s);
  }
  for (const [cls, t] of [["band", "held, down, or without a watch"], ["band bad", "silent because of a fault"]]) {
    const s = make("span"), svg = draw("svg", "", { viewBox: "0 0 14 12", "aria-hidden": "true" });
    svg.append(draw("rect", cls, { x: 2, y: 0, width: 10, height: 12 }));
    s.append(svg, t);
    $("legend").append(s);
  }
  $("legend").append(make("span", "", "Keys: ↑ ↓ step, PgUp PgDn, Home End, v violation, + − zoom. State: + added, − removed, → changed by this step."));

  $("prev").addEventListener("click", () => move(cursor - 1));
  $("next").addEventListener("click", () => move(cursor + 1));
  $("jump").addEventListener("click", toViolation);
  $("in").addEventListener("click", () => zoom(1));
  $("out").addEventListener("click", () => zoom(-1));
  $("focus").addEventListener("change", arrange);
  $("which").addEventListener("change", arrange);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; height = narrow() ? 34 : height; arrange(); } });
  $("scroll").addEventListener("scroll", () => requestAnimationFrame(() => paint(false)), { passive: true });
  sheet.addEventListener("click", (e) => {
    const row = e.target.closest(".row");
    if (row) { move(+row.dataset.row); $("scroll").focus({ preventScroll: true }); }
  });
  const keys = {
    ArrowDown: () => move(cursor + 1), j: () => move(cursor + 1), ArrowUp: () => move(cursor - 1), k: () => move(cursor - 1),
    PageDown: () => move(cursor + 15), PageUp: () => move(cursor - 15), Home: () => move(0), End: () => move(shown.length - 1),
    v: toViolation, "+": () => zoom(1), "=": () => zoom(1), "-": () => zoom(-1),
  };
  $("viewer").addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.tagName === "SELECT" || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  document.addEventListener("click", (e) => {
    const a = e.target.closest("a[data-step]");
    if (!a) return;
    e.preventDefault();
    $("diagram").scrollIntoView({ behavior: "auto" });
    goTo(+a.dataset.step);
    $("scroll").focus({ preventScroll: true });
  });

  $("viewer").hidden = false;
  if (narrow()) height = 34;
  $("in").disabled = height === heights[heights.length - 1];
  arrange();
  const wanted = /^#step-(\d+)$/.exec(location.hash);
  if (wanted) goTo(+wanted[1]); else toViolation();
  document.documentElement.dataset.ready = "yes";
})();
