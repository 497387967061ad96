"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dialog = document.getElementById("evidence");
  const body = document.getElementById("evidence-body");

  function element(name, className, ...children) {
    const node = document.createElement(name);
    if (className) node.className = className;
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
  }

  /* Sixteen bytes a line: offset, hex, text. */
  function dump(hex) {
    const cut = hex.indexOf("...");
    const digits = cut < 0 ? hex : hex.slice(0, cut);
    const lines = [];
    for (let at = 0; at < digits.length; at += 32) {
      const bytes = digits.slice(at, at + 32).match(/../g) || [];
      const text = bytes.map(b => { const c = parseInt(b, 16); return c > 31 && c < 127 ? String.fromCharCode(c) : "."; });
      lines.push((at / 2).toString(16).padStart(6, "0") + "  " + bytes.join(" ").padEnd(48) + " " + text.join(""));
    }
    if (cut >= 0) lines.push(hex.slice(cut));
    return lines.join("\n");
  }

  function block(title, text, className) {
    return element("div", "", element("h4", "", title), element("pre", className, text));
  }

  /* Error numbers are followed by their names. */
  function json(value) {
    return JSON.stringify(value, null, 2).replace(/("errorCode": (-?\d+))/g, (whole, text, code) =>
      data.errors[code] ? text + " " + data.errors[code] : text);
  }

  function stepOf(step, number) {
    const details = element("details", "step");
    const wanted = step.expected && step.expected.length ? step.expected[0].connection || "kept" : "";
    details.open = step.verdict !== "pass" || number === 1;
    details.append(element("summary", "",
      element("span", "v " + step.verdict, step.verdict), " ", element("b", "", number + " " + step.verb), " ",
      step.alternative ? step.alternative + " " : "", element("span", "why", step.reason || "")));
    const inner = element("div", "");
    if (step.connection)
      inner.append(element("p", "", "connection: expected " + (wanted || "any") + ", got " + step.connection +
        " \u00b7 " + step.ms + " ms" + (step.api ? " \u00b7 " + step.api + " v" + step.version : "")));
    if (step.expected && step.expected.length)
      inner.append(element("div", "pair", block("expected: one of these", json(step.expected)),
        block("got", step.got === undefined ? "(no answer)" : json(step.got))));
    if (step.unreadable) inner.append(block("cannot be read", step.unreadable));
    const pair = element("div", "pair");
    if (step.request !== undefined) pair.append(block("request", json(step.request)));
    if (step.response !== undefined) pair.append(block("response", json(step.response)));
    for (const hex of step.requestHex || []) pair.append(block("request bytes", dump(hex), "bytes"));
    for (const hex of step.responseHex || []) pair.append(block("response bytes", dump(hex), "bytes"));
    inner.append(pair);
    details.append(inner);
    return details;
  }

  function requirementOf(id) {
    const row = data.requirements[id];
    if (!row) return null;
    return element("p", "", element("span", "level", row.level), " ", row.text,
      element("span", "source", element("code", "", id), " ", element("b", "origin", row.origin), " ", row.source));
  }

  const red = new Set(["fail", "xpass", "inconclusive", "error"]);

  function quoted(text) {
    return /^[\w/.:@%+=,-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
  }

  /* Claims of the profile are judged by every run. */
  function repeatOf(result, row) {
    const cases = row.family === "profile" ? "sanity.*" : row.id.replace(/@end$/, "");
    const words = ["conformance", "run", ...result.repeat, "--bootstrap-server", result.target.bootstrap, "--only", cases];
    return words.map(word => quoted(String(word))).join(" ");
  }

  function show(r, c) {
    const result = data.results[r];
    const row = result.cases[c];
    const title = element("h3", "", element("span", "v " + row.verdict, row.verdict), " ", row.id);
    const close = element("button", "close", "Close");
    title.id = "evidence-title";
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    body.replaceChildren(element("div", "top", element("div", "", title, element("div", "", row.title)), close));
    if (row.reason) body.append(element("p", red.has(row.verdict) ? "note" : "why", row.reason));
    if (row.note) body.append(element("p", "", row.note));
    for (const id of row.requirements || []) body.append(requirementOf(id) || "");
    (row.steps || []).forEach((step, i) => body.append(stepOf(step, i + 1)));
    if (row.leftBehind) body.append(element("p", "note", "left behind: " + row.leftBehind));
    if (Array.isArray(result.repeat)) body.append(block("run it again", repeatOf(result, row)));
    history.replaceState(null, "", "#" + row.id);
    dialog.showModal();
    dialog.scrollTop = 0;
  }

  const cells = [...document.querySelectorAll("button[data-c]")];
  cells.forEach(cell => cell.addEventListener("click", () => show(+cell.dataset.r, +cell.dataset.c)));
  dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
  dialog.addEventListener("click", event => { if (event.target === dialog) dialog.close(); });

  /* Arrow keys walk through the matrix. */
  document.addEventListener("keydown", event => {
    const cell = event.target.closest ? event.target.closest("button[data-c]") : null;
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 0, ArrowLeft: 0 }[event.key];
    if (!cell || !cell.closest("tr") || step === undefined || dialog.open) return;
    const r = +cell.dataset.r + ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] || 0);
    const rows = [...document.querySelectorAll("tr.case:not([hidden])")];
    const row = rows[rows.indexOf(cell.closest("tr")) + step];
    const next = row ? row.querySelector(`button[data-r="${r}"]`) : null;
    if (next) { event.preventDefault(); next.focus(); }
  });

  const find = document.getElementById("find");
  const differ = document.getElementById("differ");
  const boxes = [...document.querySelectorAll("input[name=v]")];
  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(boxes.filter(box => box.checked).map(box => box.value));
    let shown = 0;
    for (const group of document.querySelectorAll("tbody")) {
      const head = group.querySelector(".req");
      const text = head ? head.textContent.toLowerCase() : "";
      let any = false;
      for (const row of group.querySelectorAll("tr.case")) {
        const own = text + " " + row.textContent.toLowerCase();
        const verdicts = [...row.querySelectorAll("button[data-v]")].map(cell => cell.dataset.v);
        row.hidden = !words.every(word => own.includes(word)) || !verdicts.some(verdict => wanted.has(verdict)) ||
          (differ !== null && differ.checked && verdicts.length === data.results.length && new Set(verdicts).size === 1);
        if (!row.hidden) { any = true; shown++; }
      }
      group.hidden = !any;
    }
    for (const family of document.querySelectorAll(".family"))
      family.hidden = !family.querySelector("tbody:not([hidden])");
    document.getElementById("shown").textContent = shown + (shown === 1 ? " case shown" : " cases shown");
  }
  find.addEventListener("input", filter);
  if (differ) differ.addEventListener("change", filter);
  boxes.forEach(box => box.addEventListener("change", filter));
  document.getElementById("filter").addEventListener("submit", event => event.preventDefault());
  filter();

  /* A link to "#case" opens its evidence: of the first target on which it did not pass, else of the first. */
  const wanted = decodeURIComponent(location.hash.slice(1));
  const linked = data.results.map((result, r) => [r, result.cases.findIndex(row => row.id === wanted)])
    .filter(([, c]) => c >= 0);
  const first = linked.find(([r, c]) => data.results[r].cases[c].verdict !== "pass") || linked[0];
  if (wanted && first) show(...first);
})();
