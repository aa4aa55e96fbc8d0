"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const VIEWS = ["verdicts", "rules", "sessions"];
  const OUTCOMES = ["asked", "rejected", "failed", "undecided"];
  const MOST = 200, PAUSE = 500;
  const here = location.pathname.replace(/\/$/, "");

  let key = "";
  let verdicts = [], sessions = new Map(), watched = null;
  let stale = { rules: false, session: false };
  let viewerIsReady = false;

  // Text only ever becomes a text node: nothing that a conversation holds is parsed as markup.
  function make(tag, options = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(options)) {
      if (name === "on") node.addEventListener("click", value);
      else if (name === "class") node.className = value;
      else node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  async function ask(path) {
    const answer = await fetch(here + path, { headers: { authorization: "Bearer " + key }, cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status === 401 ? "This is not the console's key." : "The gateway answered " + answer.status + ".");
    return answer;
  }

  // ── what is shown ───────────────────────────────────────────────────────────────────────────
  function show(view) {
    for (const name of VIEWS) {
      at(name).hidden = name !== view;
      at("show-" + name).setAttribute("aria-pressed", name === view);
    }
  }

  const link = (name) => make("button", { type: "button", class: "link", on: () => watch(name) }, name);
  const clock = (time) => new Date(time).toLocaleTimeString();

  function why(finding) {
    const level = finding.enforcement === "enforce" ? null : make("span", { class: "tag muted" }, finding.enforcement);
    return make("p", {}, make("b", {}, finding.rule), " " + finding.outcome + ": " + finding.reason, level);
  }

  function verdictRow(one) {
    const word = make("td", { class: one.decision.toLowerCase() }, one.decision, one.shadow ? make("span", { class: "tag muted" }, "shadow") : null);
    return make("tr", { "data-session": one.session }, make("td", {}, clock(one.time)), word, make("td", {}, one.tool),
      make("td", {}, ...one.findings.map(why)), make("td", {}, link(one.session)));
  }

  function drawVerdicts() { at("verdict-rows").replaceChildren(...verdicts.map(verdictRow)); }

  function counted(counts) {
    return OUTCOMES.filter((name) => counts[name]).map((name) => name + " " + counts[name]).join(", ");
  }

  function ruleRow(rule) {
    const cases = make("ul", {}, ...rule.latest.map((one) => make("li", {}, clock(one.time) + " " + one.tool + ": " + one.findings[0].reason + " ",
      link(one.session), one.shadow ? make("span", { class: "tag muted" }, "shadow") : null)));
    const latest = rule.latest.length ? make("details", {}, make("summary", {}, "latest cases"), cases) : null;
    return make("tr", { "data-rule": rule.rule },
      make("td", {}, make("b", {}, rule.rule), make("p", { class: "muted" }, rule.summary), latest),
      ...["allowed", ...OUTCOMES].map((name) => make("td", { class: "number", "data-outcome": name }, String(rule.enforced[name] ?? 0))),
      make("td", { "data-outcome": "shadow" }, counted(rule.shadow)));
  }

  function drawRules(rules) {
    const open = new Set([...at("rule-rows").querySelectorAll("tr:has(details[open])")].map((row) => row.dataset.rule));
    at("rule-rows").replaceChildren(...rules.map(ruleRow));
    for (const row of at("rule-rows").children) if (open.has(row.dataset.rule)) row.querySelector("details")?.setAttribute("open", "");
  }

  function drawSessions() {
    const rows = [...sessions.values()].sort((a, b) => (a.latest < b.latest ? 1 : -1)).slice(0, MOST);
    at("session-rows").replaceChildren(...rows.map((one) => make("li", {},
      make("button", { type: "button", "data-session": one.session, "aria-current": one.session === watched, on: () => watch(one.session) }, one.session,
        make("small", {}, clock(one.latest) + " · " + one.calls + " calls, " + one.rejected + " not allowed" + (one.cut ? " · too long to be kept whole" : ""))))));
  }

  // ── one conversation ────────────────────────────────────────────────────────────────────────
  async function watch(name) {
    watched = name;
    show("sessions");
    drawSessions();
    await drawSession();
  }

  async function drawSession() {
    if (watched === null || !viewerIsReady) return;
    try {
      const run = await (await ask("/session?name=" + encodeURIComponent(watched))).json();
      at("viewer").contentWindow.postMessage(run, location.origin);
    } catch (problem) { at("status").textContent = problem.message; }
  }

  addEventListener("message", (event) => {
    if (event.origin !== location.origin || event.source !== at("viewer").contentWindow || event.data !== "ready") return;
    viewerIsReady = true;
    drawSession();
  });

  // ── what comes in ───────────────────────────────────────────────────────────────────────────
  async function look() {
    const state = await (await ask("/state")).json();
    verdicts = state.verdicts;
    sessions = new Map(state.sessions.map((one) => [one.session, one]));
    drawVerdicts();
    drawRules(state.rules);
    drawSessions();
    await drawSession();
  }

  function hear(event) {
    if (event.type === "lost") { look().catch(() => {}); return; }
    sessions.set(event.session.session, event.session);
    if (sessions.size > 2 * MOST) sessions.delete(sessions.keys().next().value);
    if (event.verdicts.length) {
      verdicts = [...event.verdicts.toReversed(), ...verdicts].slice(0, MOST);
      at("verdict-rows").prepend(...event.verdicts.toReversed().map(verdictRow));
      while (at("verdict-rows").childElementCount > MOST) at("verdict-rows").lastElementChild.remove();
      stale.rules = true;
    }
    stale.sessions = true;
    if (event.session.session === watched) stale.session = true;
  }

  // What many events change is drawn once for all of them.
  async function refresh() {
    if (stale.sessions) { stale.sessions = false; drawSessions(); }
    if (stale.session) { stale.session = false; await drawSession(); }
    if (stale.rules) { stale.rules = false; drawRules(await (await ask("/rules")).json()); }
  }

  async function listen() {
    const reader = (await ask("/events")).body.pipeThrough(new TextDecoderStream()).getReader();
    await look();
    at("status").textContent = "live";
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) if (block.startsWith("data: ")) hear(JSON.parse(block.slice(6)));
    }
  }

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  async function stayConnected() {
    for (;;) {
      try { await listen(); } catch { /* told below */ }
      at("status").textContent = "not connected; trying again";
      await pause(2000);
    }
  }

  at("login").addEventListener("submit", async (event) => {
    event.preventDefault();
    key = at("key").value;
    at("key").value = "";
    try { await look(); } catch (problem) { at("problem").textContent = problem.message; return; }
    at("login").hidden = true;
    at("main").hidden = false;
    at("viewer").src = here + "/view";
    stayConnected();
    for (;;) { await pause(PAUSE); await refresh().catch(() => {}); }
  });
  for (const name of VIEWS) at("show-" + name).addEventListener("click", () => show(name));
})();
