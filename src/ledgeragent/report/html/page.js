"use strict";
(() => {
  let { runs } = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const OUTCOMES = ["allow", "revise", "evidence", "block"];
  const NAMES = { allow: "allowed", revise: "revise", evidence: "asks for a read", block: "blocked" };
  const TITLES = { allow: "Allowed", revise: "Revise", evidence: "Revise: a read is needed first", block: "Blocked" };
  const TONES = { new: "allow", changed: "plain", confirmed: "plain", stale: "revise" };
  const WHO = { user: "Customer", agent: "Agent", tool: "Tool" };
  const LONG = 260;
  const SHORT = 70;
  const VALUE = 120, SENTENCE = 1000, RECORD = 4000, MOST_FACTS = 40; // as in the other reports

  let run = runs[0];
  let current = 0;
  const picked = { outcomes: new Set(), rule: "", text: "" };

  // Text only ever becomes a text node: nothing that a run holds is parsed as markup.
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

  const button = (text, on, look = "") => make("button", { type: "button", class: look, on }, text);
  const listed = (value) => value ?? [];
  const flat = (text) => text.replace(/\s+/g, " ");
  const compact = (text) => (flat(text).length <= SHORT ? flat(text) : text);

  // ── conversation ────────────────────────────────────────────────────────────────────────────
  const answersOf = (step) => listed(step.calls).map((call) => call.answer).filter(Boolean);

  const cached = (compute) => {
    const values = new WeakMap();
    return (one) => { if (!values.has(one)) values.set(one, compute(one)); return values.get(one); };
  };

  // All that a step shows, for finding words in it.
  const wordsOf = cached((step) => [step.text, step.of, step.skipped, ...listed(step.calls).flatMap((call) =>
    [call.name, call.arguments, call.answer?.note, ...listed(call.answer?.findings).flatMap((f) => [f.rule, f.reason])])]
    .filter(Boolean).join("\n").toLowerCase());

  function matches(step) {
    if (picked.text && !wordsOf(step).includes(picked.text)) return false;
    if (!picked.outcomes.size && !picked.rule) return true;
    return answersOf(step).some((answer) =>
      (!picked.outcomes.size || picked.outcomes.has(answer.outcome)) &&
      (!picked.rule || listed(answer.findings).some((found) => found.rule === picked.rule)));
  }

  function drawSteps() {
    const items = [];
    let hidden = 0, shown = 0;
    const gap = () => {
      if (hidden) items.push(make("li", { class: "gap" }, `${hidden} ${hidden === 1 ? "step" : "steps"} not shown`));
      hidden = 0;
    };
    run.steps.forEach((step, number) => {
      if (!matches(step)) { hidden += 1; return; }
      gap();
      items.push(stepItem(step, number));
      shown += 1;
    });
    gap();
    at("steps").replaceChildren(...items);
    const filtered = picked.outcomes.size || picked.rule || picked.text;
    at("clear").hidden = !filtered;
    at("count").textContent = filtered ? `${shown} of ${run.steps.length} steps` : `${run.steps.length} steps`;
  }

  function stepItem(step, number) {
    const title = step.kind === "tool" && step.of ? step.of : WHO[step.kind];
    const head = make("div", { class: "who" },
      button(clipped(title, 140), () => select(number)),
      make("span", { class: "at" }, `turn ${step.turn ?? 0} · ${number + 1}`));
    const item = make("li", { class: `step ${step.kind}${step.failed ? " failed" : ""}`, "data-step": number }, head);
    item.addEventListener("click", (event) => {
      if (!event.target.closest("button, summary, a") && !String(getSelection())) select(number, false);
    });
    if (step.kind === "tool") item.append(...toolParts(step));
    else if (step.text) item.append(...lengthy("div", { class: "said", dir: "auto" }, step.text, RECORD));
    if (step.kind === "user" && step.changes) item.append(learned(step.changes));
    for (const call of listed(step.calls)) item.append(callCard(call, number));
    return item;
  }

  const clipped = (text, most) => text.length > most ? `${text.slice(0, most)}…` : text;

  // The text, and where its end is left out a button that shows it.
  function lengthy(tag, options, text, most, brief = (text) => text, full = brief) {
    const body = make(tag, options, clipped(brief(text), most));
    if (text.length <= most) return [body];
    const more = button("show all", () => {
      const open = body.classList.toggle("open");
      body.textContent = open ? full(text) : clipped(brief(text), most);
      more.textContent = open ? "show less" : "show all";
    }, "more");
    return [body, more];
  }

  function toolParts(step) {
    const parts = lengthy("pre", { class: "answer mono" }, step.text ?? "", LONG, flat, pretty);
    if (step.changes) parts.push(learned(step.changes));
    else if (step.skipped) parts.push(make("div", { class: "learned muted" }, clipped(`ledger unchanged: ${step.skipped}`, SENTENCE)));
    return parts;
  }

  // Indents JSON without reading its numbers, which would round long ones.
  function pretty(text) {
    if (!/^\s*[[{]/.test(text)) return text;
    let out = "", depth = 0, inside = false;
    for (let i = 0; i < text.length; i += 1) {
      const c = text[i];
      if (inside) { out += c; if (c === "\\") out += text[++i] ?? ""; else if (c === '"') inside = false; }
      else if (c === '"') { inside = true; out += c; }
      else if (c === "{" || c === "[") { depth += 1; out += `${c}\n${"  ".repeat(depth)}`; }
      else if (c === "}" || c === "]") { depth = Math.max(0, depth - 1); out += `\n${"  ".repeat(depth)}${c}`; }
      else if (c === ",") out += `,\n${"  ".repeat(depth)}`;
      else if (c === ":") out += ": ";
      else if (!/\s/.test(c)) out += c;
    }
    return out;
  }

  function learned(changes) {
    return make("div", { class: "learned" }, ...changes.slice(0, 6).map((change) =>
      make("span", {},
        make("span", { class: `badge toned ${TONES[change.kind]}` }, change.kind), " ",
        make("span", { class: "mono" }, clipped(change.path, VALUE)))),
      changes.length > 6 ? make("span", { class: "muted" }, `and ${changes.length - 6} more`) : null);
  }

  function callCard(call, number) {
    const answer = call.answer;
    const executed = answer ? make("span", { class: "badge" }, answer.executed ? "executed" : "not executed") : null;
    const card = make("div", { class: "call" },
      make("div", { class: "name" }, make("code", {}, clipped(call.name, VALUE)), make("span", { class: "badge" }, call.effect), executed),
      ...(call.arguments && call.arguments !== "{}" ? lengthy("pre", {}, compact(call.arguments), RECORD) : []));
    if (answer) card.append(verdictPart(answer, number));
    return card;
  }

  function verdictPart(answer, number) {
    const checked = listed(answer.checked).length;
    const part = make("div", { class: `verdict ${answer.outcome}` },
      make("div", { class: "line" }, make("strong", {}, TITLES[answer.outcome]),
        checked ? make("span", { class: "muted" }, `${checked} ${checked === 1 ? "rule" : "rules"} checked`) : null));
    for (const found of listed(answer.findings)) part.append(finding(found, number));
    if (answer.note) part.append(make("div", { class: "finding" }, clipped(answer.note, SENTENCE)));
    if (answer.facts) {
      const label = `${answer.facts.length} ${answer.facts.length === 1 ? "fact" : "facts"} read for it`;
      part.append(folded(label, () => facts(answer.facts, number)));
    }
    return part;
  }

  function folded(label, fill) {
    const box = make("details", {}, make("summary", {}, label));
    box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(fill()); });
    return box;
  }

  function finding(found, number) {
    const rule = run.rules[found.rule];
    const kind = found.enforced ? "" : ` · ${found.kind === "undecided" ? "undecided" : "not enforced"}`;
    const box = make("div", { class: "finding" },
      ...lengthy("div", { dir: "auto" }, found.reason, SENTENCE),
      make("div", { class: "rule" }, button(clipped(found.rule, VALUE), () => pickRule(found.rule)), kind,
        rule ? ` · ${rule.clause || rule.summary}` : ""));
    if (found.error) box.append(...lengthy("pre", {}, found.error, SENTENCE));
    if (found.facts) box.append(facts(found.facts, number));
    return box;
  }

  function facts(list, number) {
    let before = "";
    const rows = list.slice(0, MOST_FACTS).map((fact) => {
      const from = `${clipped(fact.source, SENTENCE)}, turn ${fact.turn ?? 0}`;
      const row = make("tr", {},
        make("th", { scope: "row" }, button(clipped(fact.path, VALUE), () => reveal(fact.path, number))),
        make("td", {}, make("pre", {}, clipped(compact(fact.value), 4000)),
          from === before ? null : make("div", { class: "from" }, from)));
      before = from;
      return row;
    });
    if (list.length > MOST_FACTS) rows.push(make("tr", {}, make("td", {}, `and ${list.length - MOST_FACTS} more`)));
    return make("table", { class: "facts" }, make("tbody", {}, ...rows));
  }

  // ── ledger ──────────────────────────────────────────────────────────────────────────────────
  function ledgerAt(number) {
    const entries = new Map();
    for (const step of run.steps.slice(0, number + 1)) {
      for (const change of listed(step.changes)) {
        const value = change.value ?? entries.get(change.path)?.value ?? "";
        entries.set(change.path, { ...change, value });
      }
    }
    return [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  function drawLedger() {
    const step = run.steps[current];
    const touched = new Map(listed(step?.changes).map((change) => [change.path, change]));
    const entries = ledgerAt(current);
    const read = new Set(answersOf(step).flatMap((answer) =>
      [answer, ...listed(answer.findings)].flatMap((part) => listed(part.facts))).map((fact) => recordOf(fact.path, entries)));
    read.delete(undefined);
    const wanted = at("find").value.trim().toLowerCase();
    const shown = wanted
      ? entries.filter((e) => e.path.toLowerCase().includes(wanted) || e.value.toLowerCase().includes(wanted))
      : entries;
    at("when").textContent = `Ledger after step ${current + 1} · ${entries.length} ${entries.length === 1 ? "record" : "records"}`;
    at("here").replaceChildren(...[...read].map((path) => button(`read ${clipped(path, VALUE)}`, () => reveal(path, current), "chip")),
      ...[...touched.values()].map((change) => button(`${change.kind} ${clipped(change.path, VALUE)}`, () => reveal(change.path, current), `chip ${TONES[change.kind] === "plain" ? "" : TONES[change.kind]}`)));
    at("ledger").replaceChildren(...shown.map((entry) => entryCard(entry, touched.get(entry.path), read.has(entry.path))));
    if (!shown.length) at("ledger").append(make("div", { class: "empty" },
      entries.length ? "No record matches." : "No record has been observed yet."));
  }

  // The record that a fact lies in: the longest path that the fact's path begins with.
  function recordOf(path, entries) {
    return entries.map((entry) => entry.path).filter((own) => path === own || path.startsWith(`${own}.`))
      .sort((a, b) => b.length - a.length)[0];
  }

  function entryCard(entry, change, read) {
    const stale = listed(entry.stale);
    const tone = change ? TONES[change.kind] : read ? "plain" : "";
    const card = make("div", { class: `entry${tone ? ` touched ${tone}` : ""}`, "data-path": entry.path },
      make("div", { class: "top" }, make("span", { class: "path mono" }, clipped(entry.path, VALUE)),
        change ? make("span", { class: `badge toned ${tone}` }, change.kind) : null,
        read ? make("span", { class: "badge toned plain" }, "read for the verdict") : null,
        stale.length && change?.kind !== "stale" ? make("span", { class: "badge toned revise" }, "stale") : null,
        entry.typed ? null : make("span", { class: "badge" }, "text as returned")),
      make("div", { class: "source" }, `${clipped(entry.source, 300)} · turn ${entry.turn ?? 0}`));
    const marks = new Map();
    for (const mark of stale) {
      const by = mark.by || "the customer";
      marks.set(by, [...(marks.get(by) ?? []), mark.fields || "all of it"]);
    }
    for (const [by, fields] of marks) card.append(make("div", { class: "notes" },
      `${clipped(fields.join(", "), SENTENCE)}: unknown since ${clipped(by, VALUE)} may have changed it`));
    if (change?.differences) card.append(make("div", { class: "diff" }, ...change.differences.map((d) =>
      make("div", {}, d.field ? `${clipped(d.field, VALUE)}: ` : "", d.before ? make("del", {}, clipped(flat(d.before), 300)) : "absent",
        " → ", d.after ? make("ins", {}, clipped(flat(d.after), 300)) : "absent"))));
    const value = folded(clipped(flat(entry.value), 160), () => make("pre", {}, entry.value));
    card.append(value);
    if (change && entry.value.length < 1500) value.open = true;
    return card;
  }

  function reveal(path, number) {
    if (number !== current) select(number, false);
    if (at("find").value) { at("find").value = ""; drawLedger(); }
    view("side");
    const own = recordOf(path, ledgerAt(current));
    const card = [...at("ledger").children].find((one) => one.dataset.path === own);
    if (!card) return;
    for (const other of document.querySelectorAll(".entry.target")) other.classList.remove("target");
    card.classList.add("target");
    card.querySelector("details").open = true;
    card.scrollIntoView({ block: "start" });
  }

  // ── moving about ────────────────────────────────────────────────────────────────────────────
  const items = () => [...at("steps").querySelectorAll(".step")];

  function select(number, scroll = true) {
    current = Math.max(0, Math.min(number, run.steps.length - 1));
    for (const old of at("steps").querySelectorAll("[aria-current]")) old.removeAttribute("aria-current");
    const item = at("steps").querySelector(`[data-step="${current}"]`);
    if (item) {
      item.setAttribute("aria-current", "true");
      if (scroll) { item.scrollIntoView({ block: "nearest" }); item.querySelector("button").focus({ preventScroll: true }); }
    }
    drawLedger();
    history.replaceState(null, "", `#${runs.indexOf(run) + 1}.${current + 1}`);
  }

  function move(by) {
    const numbers = items().map((item) => Number(item.dataset.step));
    const next = by > 0 ? numbers.find((n) => n > current) : numbers.reverse().find((n) => n < current);
    if (next !== undefined) select(next);
  }

  function moveToVerdict(by) {
    const numbers = items().map((item) => Number(item.dataset.step))
      .filter((n) => answersOf(run.steps[n]).some((answer) => answer.outcome !== "allow"));
    const next = by > 0 ? numbers.find((n) => n > current) : numbers.reverse().find((n) => n < current);
    if (next !== undefined) select(next);
  }

  function refilter(focus = true) {
    drawFilters();
    drawSteps();
    const first = items()[0];
    const kept = !first || at("steps").querySelector(`[data-step="${current}"]`);
    select(kept ? current : Number(first.dataset.step), focus);
  }

  function pickRule(rule) {
    picked.rule = picked.rule === rule ? "" : rule;
    refilter();
  }

  function pickOutcome(outcome) {
    if (!picked.outcomes.delete(outcome)) picked.outcomes.add(outcome);
    refilter();
  }

  function forget() {
    picked.outcomes.clear();
    picked.rule = picked.text = at("search").value = at("find").value = "";
  }

  function clearFilters() {
    forget();
    refilter();
  }

  function drawFilters() {
    const answers = run.steps.flatMap(answersOf);
    at("outcomes").replaceChildren(...OUTCOMES.map((outcome) => {
      const chip = make("button", {
        type: "button", class: `chip ${outcome}`, "aria-pressed": picked.outcomes.has(outcome),
        on: () => pickOutcome(outcome),
      }, NAMES[outcome], make("b", {}, String(answers.filter((a) => a.outcome === outcome).length)));
      return chip;
    }));
    const counts = new Map();
    for (const answer of answers) for (const rule of new Set(listed(answer.findings).map((f) => f.rule)))
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
    at("rule").replaceChildren(make("option", { value: "" }, counts.size ? "every rule" : "no rule found anything"),
      ...[...counts].sort().map(([rule, count]) => make("option", { value: rule }, `${clipped(rule, VALUE)} (${count})`)));
    at("rule").value = picked.rule;
    at("rule").disabled = !counts.size;
  }

  function view(name) {
    document.body.dataset.view = name;
    at("show-talk").setAttribute("aria-pressed", name === "talk");
    at("show-side").setAttribute("aria-pressed", name === "side");
    if (name === "talk") at("steps").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  function open(number, step = 0, focus = step > 0) {
    run = runs[number];
    forget();
    at("run").textContent = titleOf(run);
    const facts = [`${run.domain} ${run.version}`, run.benchmark, run.task && `task ${run.task}`,
      run.reward === null ? "" : `reward ${run.reward}`, run.recorded ? "verdicts as recorded" : "judged now",
      run.redacted ? "values were redacted" : ""];
    at("about").textContent = facts.filter(Boolean).map((fact) => clipped(fact, VALUE)).join(" · ");
    drawFilters();
    drawSteps();
    select(step, focus);
  }

  // ── runs ────────────────────────────────────────────────────────────────────────────────────
  const titleOf = (one) => clipped(one.task ? `task ${one.task} · ${one.run}` : one.run, 90);
  const rewardOf = (one) => (one.reward === null ? "no reward" : `reward ${one.reward}`);
  const wantedLabels = new Set();

  const tally = cached((one) => {
    const answers = one.steps.flatMap(answersOf);
    return OUTCOMES.map((outcome) => [outcome, answers.filter((answer) => answer.outcome === outcome).length])
      .filter(([, count]) => count);
  });

  const labelsOf = cached((one) => [...tally(one).map(([outcome]) => outcome), rewardOf(one)]);

  const namesOf = cached((one) => [titleOf(one), one.domain, ...one.steps.flatMap((step) =>
    listed(step.calls).map((call) => call.name))].join("\n").toLowerCase());

  function drawRuns() {
    const wanted = at("find-run").value.trim().toLowerCase();
    const labels = [...OUTCOMES, ...new Set(runs.map(rewardOf))].filter((label) => runs.some((one) => labelsOf(one).includes(label)));
    at("run-outcomes").replaceChildren(...labels.map((label) => make("button", {
      type: "button", class: `chip ${OUTCOMES.includes(label) ? label : ""}`, "aria-pressed": wantedLabels.has(label),
      on: () => { if (!wantedLabels.delete(label)) wantedLabels.add(label); drawRuns(); },
    }, NAMES[label] ?? label, make("b", {}, String(runs.filter((one) => labelsOf(one).includes(label)).length)))));
    const shown = runs.map((one, number) => [one, number]).filter(([one]) =>
      namesOf(one).includes(wanted) && [...wantedLabels].every((label) => labelsOf(one).includes(label)));
    at("run-list").replaceChildren(...shown.map(([one, number]) => make("li", {}, runRow(one, number))));
    at("run-count").textContent = `${shown.length} of ${runs.length}`;
  }

  function runRow(one, number) {
    const row = make("button", { type: "button", class: "run", "aria-current": one === run, on: () => { at("runs").close(); open(number); } },
      make("span", { class: "title" }, titleOf(one)),
      ...tally(one).map(([outcome, count]) => make("span", { class: `badge toned ${outcome}` }, `${count} ${NAMES[outcome]}`)),
      make("span", { class: "badge" }, rewardOf(one)),
      make("span", { class: "muted" }, `${one.steps.length} steps`));
    return row;
  }

  function showRuns() {
    if (runs.length < 2) return;
    drawRuns();
    at("runs").showModal();
    at("run-list").querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  }

  // Paper cannot be asked for more: it gets what is folded on the screen, and the ledger of the end.
  function unfold() {
    for (const more of document.querySelectorAll(".more")) if (more.textContent === "show all") more.click();
    current = run.steps.length - 1;
    drawLedger();
    for (const box of at("ledger").querySelectorAll("details")) box.open = true;
  }

  function theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  }

  const KEYS = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    n: () => moveToVerdict(1), p: () => moveToVerdict(-1),
    g: () => { const first = items()[0]; if (first) select(Number(first.dataset.step)); },
    G: () => { const last = items().at(-1); if (last) select(Number(last.dataset.step)); },
    "]": () => open(Math.min(runs.indexOf(run) + 1, runs.length - 1)),
    "[": () => open(Math.max(runs.indexOf(run) - 1, 0)),
    r: showRuns, f: () => { view("talk"); at("search").focus(); },
    l: () => view(document.body.dataset.view === "side" ? "talk" : "side"),
    "/": () => { view("side"); at("find").focus(); },
    t: theme, "?": () => at("keys").showModal(), Escape: clearFilters,
  };

  document.addEventListener("keydown", (event) => {
    if (!run || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input, select")) {
      if (event.key === "Escape") { event.target.blur(); event.preventDefault(); }
      return;
    }
    if (Object.hasOwn(KEYS, event.key)) { event.preventDefault(); KEYS[event.key](); }
  });
  at("run").hidden = runs.length < 2;
  at("run").addEventListener("click", showRuns);
  at("find-run").addEventListener("input", drawRuns);
  at("search").addEventListener("input", (event) => { picked.text = event.target.value.trim().toLowerCase(); refilter(false); });
  window.addEventListener("beforeprint", unfold);
  at("rule").addEventListener("change", (event) => { picked.rule = event.target.value; refilter(); });
  at("find").addEventListener("input", drawLedger);
  at("clear").addEventListener("click", clearFilters);
  at("theme").addEventListener("click", theme);
  at("help").addEventListener("click", () => at("keys").showModal());
  at("show-talk").addEventListener("click", () => view("talk"));
  at("show-side").addEventListener("click", () => view("side"));

  const [wantedRun, wantedStep] = location.hash.slice(1).split(".").map(Number);
  view("talk");
  if (runs.length) {
    open(runs[wantedRun - 1] ? wantedRun - 1 : 0, wantedStep >= 1 ? wantedStep - 1 : 0);
    if (!runs[wantedRun - 1]) showRuns();
  } else if (parent !== window) {
    // Without a run of its own the page shows those of the page that holds it, from its own origin.
    addEventListener("message", (event) => {
      if (event.origin !== location.origin || event.source !== parent) return;
      const stays = runs.length && runs[0].run === event.data.run && current < runs[0].steps.length - 1;
      runs = [event.data];
      open(0, stays ? current : event.data.steps.length - 1, false);
      at("steps").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    });
    parent.postMessage("ready", location.origin);
  }
})();
