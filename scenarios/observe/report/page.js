"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("script");
  const $ = (id) => document.getElementById(id);
  const articles = [...document.querySelectorAll("article.finding")];
  const inline = document.querySelectorAll("article.finding > .body:not([hidden])").length;

  // The colours: those of the system until the button is pressed.
  const theme = $("theme");
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (systemDark.matches ? "dark" : "light")) === "dark";
  const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
  try { root.dataset.theme = localStorage.getItem("nictwin-theme") || ""; } catch { /* no storage for files */ }
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("nictwin-theme", root.dataset.theme); } catch { /* likewise */ }
    showTheme();
  });
  systemDark.addEventListener("change", showTheme);
  showTheme();

  // The compressed part of the page, unpacked once.
  let unpacked;
  const data = () => unpacked ||= (async () => {
    const text = $("data").textContent.replace(/-/g, "+").replace(/_/g, "/");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  })();

  // A finding is a button and a body; bodies behind the first ones are filled when they are opened.
  const open = async (article, on) => {
    const button = article.querySelector("h3 button");
    const body = article.querySelector(".body");
    button.setAttribute("aria-expanded", String(on));
    body.hidden = !on;
    if (!on || body.firstElementChild) return;
    const n = Number(article.id.slice(1));
    body.innerHTML = (await data()).bodies[n - inline]; // escaped by the program that wrote the page
  };
  articles.slice(1, inline).forEach((a) => open(a, false));
  const openByHash = async () => {
    const a = /^#f\d+$/.test(location.hash) && $(location.hash.slice(1));
    if (!a) return;
    a.hidden = false;
    await open(a, true);
    a.scrollIntoView();
    a.querySelector("h3 button").focus({ preventScroll: true });
  };
  addEventListener("hashchange", openByHash);
  openByHash();

  // Which findings are shown.
  let group = "";
  const filter = $("filter");
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const a of articles) {
      const text = (a.querySelector("h3").textContent + " " + a.dataset.files).toLowerCase();
      a.hidden = group !== "" && a.dataset.group !== group || !words.every((w) => text.includes(w));
      if (!a.hidden) shown++;
    }
    $("shown").textContent = `${shown} of ${articles.length}`;
    for (const b of document.querySelectorAll(".pick")) {
      b.setAttribute("aria-pressed", String(b.dataset.group === group));
    }
  };
  filter?.addEventListener("input", apply);
  $("all")?.addEventListener("click", () => { group = ""; filter.value = ""; apply(); });

  // Copies a command; where the clipboard is closed to pages, it selects the text.
  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    let done = "Copied";
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      if (!document.execCommand("copy")) done = "Selected";
    }
    button.textContent = done;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };

  document.addEventListener("click", (e) => {
    const button = e.target.closest("button");
    if (!button) return;
    if (button.matches("article h3 button")) {
      open(button.closest("article"), button.getAttribute("aria-expanded") !== "true");
    } else if (button.matches(".pick")) {
      group = group === button.dataset.group ? "" : button.dataset.group;
      apply();
      $("list").scrollIntoView();
    } else if (button.matches(".copy")) {
      copy(button);
    } else if (button.matches(".draw")) {
      toggleLadder(button);
    }
  });

  // Up, down, Home and End move between the findings shown.
  $("list")?.addEventListener("keydown", (e) => {
    if (!e.target.matches("article h3 button")) return;
    const shown = articles.filter((a) => !a.hidden);
    const i = shown.indexOf(e.target.closest("article"));
    const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: shown.length - 1 }[e.key];
    if (to === undefined || !shown[to]) return;
    e.preventDefault();
    shown[to].querySelector("h3 button").focus();
  });

  // The ladder: the crossings around a finding, drawn when they are opened.
  const toggleLadder = async (button) => {
    const on = button.getAttribute("aria-expanded") !== "true";
    const place = $(button.getAttribute("aria-controls"));
    button.setAttribute("aria-expanded", String(on));
    place.hidden = !on;
    if (!on || place.firstElementChild) return;
    const d = await data();
    const ladder = d.ladders[button.parentElement.dataset.n];
    const rows = ladder.rows.map((i) => crossing(d.crossings[i]));
    draw(place, rows, ladder);
    list(place, rows, ladder);
  };

  const crossing = ([kind, nic, port, n, first, last, bytes, queue, text]) => {
    const tlp = kind.startsWith("tlp");
    const from = queue >= 0 && queue < 65535 ? `, txq ${queue}` : queue === 65535 ? ", pause" : "";
    const label = tlp ? text : `frame ${n}, port ${port}, ${bytes} B${from}`;
    return { kind, nic, tlp, label, first, last, bytes, out: kind.endsWith("out") };
  };

  const svg = (name, attributes, parent, text) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    parent.append(e);
    return e;
  };

  const draw = (place, rows, ladder) => {
    const width = Math.min(Math.max(place.clientWidth || 320, 300), 900);
    const step = 27, top = 40, char = 7;
    const left = 66, right = width - 8, middle = left + Math.round((right - left) * 0.42);
    const height = top + step * (rows.length + (ladder.gap ? 1 : 0)) + 12;
    const s = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" }, place);
    s.setAttribute("aria-label", `Ladder of ${rows.length} crossings around cycle ${ladder.cycle}; the list below has them`);
    svg("text", { x: 0, y: 14, class: "cyc" }, s, "cycle");
    for (const [x, name, anchor] of [[left, "Ethernet", "start"], [middle, "NIC", "middle"], [right, "PCIe", "end"]]) {
      svg("text", { x, y: 14, class: "head", "text-anchor": anchor }, s, name);
      svg("line", { x1: x, x2: x, y1: 20, y2: height, class: "lane" }, s);
    }
    let y = top;
    rows.forEach((c, i) => {
      const cls = c.tlp ? "tlp" : "frame";
      const here = i === ladder.at, its = i === ladder.frame;
      if (here || its) svg("rect", { x: 1, y: y - 15, width: width - 2, height: step - 2, rx: 4, class: here ? "here" : "its" }, s);
      svg("text", { x: 4, y: y + 5, class: here ? "cyc at" : "cyc" }, s, String(c.last));
      const far = c.tlp ? right : left;
      const [x1, x2] = c.out ? [middle, far] : [far, middle];
      const way = Math.sign(x2 - x1);
      svg("line", { x1, x2: x2 - way * 5, y1: y + 5, y2: y + 5, class: cls }, s);
      svg("path", { d: `M${x2} ${y + 5}l${-way * 8} -4v8z`, class: `tip ${cls}` }, s);
      const room = Math.floor((right - left - 8) / char);
      const label = c.label.length > room ? c.label.slice(0, room - 1) + "…" : c.label;
      const anchor = c.tlp ? "end" : "start";
      const t = svg("text", { x: c.tlp ? right - 6 : left + 6, y, class: here ? "label at" : "label", "text-anchor": anchor }, s, label);
      svg("title", {}, t, `${c.kind} ${c.label}, cycles ${c.first} to ${c.last}`);
      y += step;
      if (i === 0 && ladder.gap) {
        svg("text", { x: left + 6, y, class: "gap" }, s, `⋮ ${ladder.gap} crossings`);
        y += step;
      }
    });
  };

  // The same as a table, for those who read or search it.
  const list = (place, rows, ladder) => {
    const details = document.createElement("details");
    details.innerHTML = '<summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Crossings">' +
      "<table><thead><tr><th scope=col>Cycles</th><th scope=col>Crossing</th><th scope=col>What</th><th scope=col>Bytes</th>" +
      "</tr></thead><tbody></tbody></table></div>";
    const body = details.querySelector("tbody");
    rows.forEach((c, i) => {
      const tr = body.insertRow();
      const note = i === ladder.at ? " ← the finding" : i === ladder.frame ? " ← its frame" : "";
      for (const text of [`${c.first}–${c.last}`, c.kind.replace("_", " "), c.label + note, String(c.bytes)]) {
        tr.insertCell().textContent = text;
      }
      if (i === ladder.at) tr.className = "now";
    });
    place.append(details);
  };
})();
