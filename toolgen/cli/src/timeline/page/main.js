// The filters, the details of a call, the keyboard, and the connection to the server.

const token = new URLSearchParams(location.search).get("token");
const ask = async (path) => {
  const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` }, cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
};

const embedded = JSON.parse($("data").textContent || "null");

/** Everything about a call: from the server, or from this page. */
const whole = (id) => (embedded ? Promise.resolve(embedded.whole[id]) : ask(`/call?id=${encodeURIComponent(id)}`));

function choices() {
  const offer = (id, all, values, sort = true) => {
    const chosen = filters[id];
    const options = [new Option(all, "")];
    const list = [...values].filter(Boolean);
    for (const value of sort ? list.sort() : list) options.push(new Option(plain(value), value));
    $(id).replaceChildren(...options);
    $(id).value = chosen;
    if ($(id).value !== chosen) filters[id] = $(id).value = "";
    $(id).hidden = options.length < 2;
  };
  const [tools, agents, principals, statuses] = [new Set(), new Set(), new Set(), new Set()];
  for (const call of calls.values()) {
    tools.add(call.tool);
    agents.add(call.agent);
    principals.add(call.principal);
    statuses.add(call.status);
  }
  offer("tool", "All tools", tools);
  offer("agent", "All agents", agents);
  offer("principal", "All principals", principals);
  offer("status", "All statuses", STATUSES.filter((status) => statuses.has(status)), false);
}

/** The head of the details, and the list of facts under it. */
function panelOf(title) {
  const head = make("header");
  const close = make("button", "", "Close");
  close.onclick = hide;
  head.append(make("h2", "", title), close);
  const facts = make("dl");
  const fact = (name, value, meaning) => {
    if (value === "" || value === null || value === undefined) return;
    const cell = make("dd");
    cell.append(value instanceof Node ? value : document.createTextNode(plain(value)));
    if (meaning) cell.append(make("small", "meaning", meaning));
    facts.append(make("dt", "", name), cell);
  };
  return { head, facts, fact, close };
}

/** Replaces the details. */
function present(parts, close) {
  const panel = $("details");
  const hadFocus = panel.contains(document.activeElement);
  panel.replaceChildren(...parts);
  panel.hidden = false;
  panel.scrollTop = 0;
  if (hadFocus) close.focus();
  placeRows();
  paint();
}

/** Shows a run: what its title leaves out, and what it cost. */
function showRun(run) {
  const { head, facts, fact, close } = panelOf(`Run of ${day(run.start)} ${clock(run.start, 1000)}`);
  fact("First message", run.prompt);
  fact("Began", new Date(run.start).toLocaleString());
  fact("Lasted", span(run.end - run.start), "from the start of its first call to the end of its last");
  fact("Calls", `${run.count.toLocaleString()}${run.failed ? `, ${run.failed.toLocaleString()} failed` : ""}`);
  fact("Model", [...run.models].join(", "));
  const requests = run.requests.size;
  if (tokens(run)) fact("Tokens", tokens(run), `of ${requests} request${requests === 1 ? "" : "s"} to the model that led to calls. A request that led to none, such as that for the final answer, is not recorded.`);
  fact("Agents", [...run.agents].join(", "));
  fact("Principals", [...run.principals].join(", "));
  fact("Session ID", run.session);
  fact("Tools", [...run.tools].join(", "));
  present([head, facts], close);
}

async function show(id) {
  const call = calls.get(id);
  if (!call) return;
  let all;
  try {
    all = (await whole(id)) ?? {};
  } catch (why) {
    all = { problem: String(why.message ?? why) };
  }
  const { head, facts, fact, close } = panelOf(call.tool);
  const status = make("span", call.status);
  status.append(make("span", "dot"), document.createTextNode(` ${plain(outcome(call))}`));
  fact("Status", status, MEANINGS[call.status]);
  fact("Began", `${new Date(call.start).toLocaleString()} (${call.at})`);
  fact("Took", call.took === null ? "running" : span(call.took));
  fact("Approved", call.approved ? (call.by ? `by ${call.by}` : "yes; the approver is not recorded") : "");
  fact("Attempt", call.attempt > 1 ? call.attempt : "");
  const link = (name, act) => {
    const made = make("button", "link", name);
    made.onclick = act;
    return made;
  };
  const callLink = (other) => link(other.tool, () => reveal(other.id));
  if (call.of) fact("Run", link(titleOf(call.of), () => showRun(call.of)));
  fact("Turn", call.turn ? `${call.of?.turns.get(call.turn) ?? call.turn} of this run` : "");
  const parent = call.parent === null ? undefined : calls.get(call.parent);
  if (parent) fact("Made by", callLink(parent));
  fact("Program", call.program, "the vendor's ID of the program of the model that made the call");
  fact("Agent", call.agent);
  fact("Principal", call.principal);
  fact("Model", call.model);
  fact("Tokens", tokens(call), "of the request to the model that led to the calls of this turn");
  fact("Call ID", call.callId, "as the model gave it");
  fact("Session ID", call.session);
  fact("Contract", all.spec_hash, all.spec_hash ? "SHA-256 of the tool's contract at that time" : "");
  const parts = [head, facts];
  if (all.problem) parts.push(make("p", "why", `The rest cannot be shown: ${all.problem}`));
  if (all.error) parts.push(section("Error", all.error));
  const asked = approvalsOf(call);
  if (asked.length > 0 && !asked[0].sure) parts.push(make("p", "why", "The record does not name its approval: these have the same tool, caller, call ID and time."));
  for (const { approval, sure } of asked) parts.push(...approvalParts(approval, sure, all));
  if (all.parameters !== undefined) parts.push(section("Arguments", all.parameters));
  if (all.result !== undefined && all.result !== null) parts.push(section("Result", all.result));
  if (call.below.length) {
    const list = make("dl");
    for (const child of call.below.slice(0, 200)) {
      const cell = make("dd");
      cell.append(callLink(child));
      list.append(make("dt", "", `${child.status} · ${span(child.took)}`), cell);
    }
    const below = make("div");
    below.append(make("h3", "", `Nested calls (${call.below.length})`), list);
    parts.push(below);
  }
  const command = callAgain(about.documents, call.tool, argumentsOf(all.parameters));
  if (command) parts.push(section("Repeat this call", command));
  present(parts, close);
}

/** Shows the details of a row. */
const showRow = (row) => (row.run ? showRun(row) : show(row.id));

/** What is known of an approval: who asked, with which arguments, who decided, who ran it, and, where it is `sure` that it is that of
 *  this record, the commands that decide about it. */
function approvalParts(approval, sure, record) {
  const at = (time) => new Date(time).toLocaleString();
  const made = make("section");
  const facts = make("dl");
  const fact = (name, value) => {
    if (value) facts.append(make("dt", "", name), make("dd", "", value));
  };
  fact("State", `${approval.state}${approval.state === "started" ? ": if its worker is gone, it may have taken effect" : ""}`);
  fact("Damage", approval.damage);
  fact("Reasons", approval.reasons.join(" "));
  fact("Waiting since", `${at(approval.asked_at)}, until ${at(approval.expires_at)}`);
  const { decision, claim, outcome: end } = approval;
  if (decision) fact(decision.granted ? "Granted" : "Denied", `by ${decision.by || "unknown"}, ${at(decision.at)}`);
  fact("Note", decision?.note);
  fact("May call", (approval.calls ?? []).map((it) => it.name).join(", "));
  if (claim) fact("Worker", `${claim.worker || "unnamed"}, ${at(claim.at)}${claim.refused ? `, refused it: ${claim.refused}` : ""}`);
  if (end) fact("Outcome", `${end.error_code ?? "it ran"}, ${at(end.at)}`);
  made.append(make("h3", "", "Approval"), facts);
  const parts = [made];
  // The sealed arguments would run: middleware may have changed those in the record.
  if (approval.shown !== undefined) {
    parts.push(section("Arguments of the approval", approval.shown));
    if (record.parameters !== undefined && !same(approval.shown, argumentsOf(record.parameters))) parts.push(make("p", "why", "These are not the arguments of the record: the approval applies to the ones below."));
  }
  if (approval.state !== "waiting" || approval.damage) return parts;
  const offers = sure
    ? [["Grant it", decideCommand("grant", approval, "--by", "NAME")], ["Deny it", decideCommand("deny", approval, "--by", "NAME", "--note", "WHY")]]
    : [["Show it", decideCommand("show", approval)]];
  for (const [title, command] of offers) if (command) parts.push(section(title, command));
  return parts;
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "");

/** A part of the details, with a button that copies it whole: a text as it is, another value as a tree. */
function section(title, value) {
  const isText = typeof value === "string" && heldBy(value) === null;
  const made = make("section");
  const head = make("h3", "", title);
  const copy = make("button", "", "Copy");
  let body;
  copy.onclick = async () => {
    try {
      await navigator.clipboard.writeText(plain(text(value)));
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(body);
      copy.textContent = "Selected";
    }
  };
  head.append(copy);
  if (isText) {
    body = make("pre");
    body.append(...cut(value, "text"));
    body.tabIndex = 0;
  } else {
    body = tree(value);
  }
  made.append(head, body);
  return made;
}

function hide() {
  $("details").hidden = true;
  $("scroll").focus();
  placeRows();
  paint();
}

/** Chooses a call wherever it is, and shows it. */
function reveal(id) {
  for (let call = calls.get(id); call; call = call.above) {
    if (call.above) view.folded.delete(call.above.id);
    if (call.of) view.folded.delete(call.of.id);
  }
  refilter();
  const index = view.rows.findIndex((row) => row.id === id);
  if (index >= 0) choose(index);
  show(id);
}

let searching = 0;
/** Looks for the text in what is shown, and then in arguments and results. */
async function search(wanted) {
  filters.text = wanted.toLowerCase();
  filters.found = null;
  refilter();
  if (!filters.text) return;
  searching += 1;
  const turn = searching;
  let found;
  if (embedded) {
    found = Object.entries(embedded.whole).filter(([, all]) => JSON.stringify([all.parameters, all.result, all.error]).toLowerCase().includes(filters.text)).map(([id]) => id);
  } else {
    try {
      found = (await ask(`/find?text=${encodeURIComponent(filters.text)}`)).found;
    } catch {
      return;
    }
  }
  if (turn !== searching) return;
  filters.found = new Set(found);
  refilter();
}

function showView(figures) {
  $("calls").hidden = figures;
  $("figures").hidden = !figures;
  $("to-calls").setAttribute("aria-pressed", String(!figures));
  $("to-figures").setAttribute("aria-pressed", String(figures));
  if (figures) return drawFigures();
  placeRows();
  paint();
}

function listen() {
  let waiting;
  $("text").oninput = (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(event.target.value.trim()), 200);
  };
  for (const id of ["tool", "agent", "principal", "status"]) {
    $(id).onchange = (event) => {
      filters[id] = event.target.value;
      refilter();
    };
  }
  $("filters").onsubmit = (event) => event.preventDefault();
  $("filters").onreset = () => {
    Object.assign(filters, { text: "", tool: "", agent: "", principal: "", status: "", found: null });
    refilter();
  };
  $("to-calls").onclick = () => showView(false);
  $("to-figures").onclick = () => showView(true);
  $("by-clock").onclick = () => setAxis(false);
  $("by-run").onclick = () => setAxis(true);
  $("all").onclick = () => zoom(null);
  $("scroll").onscroll = paintSoon;
  $("space").onclick = (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    const index = Number(row.dataset.index);
    const folds = event.target.closest("[data-fold]");
    if (folds) return fold(view.rows[index], !view.folded.has(view.rows[index].id));
    choose(index);
    $("scroll").focus();
    showRow(view.rows[index]);
  };
  $("space").ondblclick = (event) => {
    const row = event.target.closest(".row");
    if (row) zoomTo(view.rows[Number(row.dataset.index)]);
  };
  brushing();
  new ResizeObserver(() => {
    drawOverview();
    paintSoon();
    if (!$("figures").hidden) drawFigures();
  }).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").onchange = () => refilter();
  document.onkeydown = keys;
}

function zoomTo(row) {
  const room = Math.max(1, (row.end - row.start) * 0.05);
  zoom([row.start - room, row.end + room]);
}

function brushing() {
  const overview = $("plot");
  let from = null;
  const at = (event) => {
    const box = overview.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return view.whole[0] + part * (view.whole[1] - view.whole[0]);
  };
  overview.onpointerdown = (event) => {
    from = at(event);
    overview.setPointerCapture(event.pointerId);
  };
  overview.onpointermove = (event) => {
    if (from === null) return;
    const to = at(event);
    if (Math.abs(to - from) > (view.whole[1] - view.whole[0]) / 500) zoom([Math.min(from, to), Math.max(from, to)]);
  };
  overview.onpointerup = (event) => {
    const to = at(event);
    if (from !== null && Math.abs(to - from) <= (view.whole[1] - view.whole[0]) / 500) zoom(null);
    from = null;
  };
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") {
    if (!$("details").hidden) hide();
    else if (typing) $("scroll").focus();
    return;
  }
  if (typing) return;
  if (event.key === "/") {
    event.preventDefault();
    $("text").focus();
    return;
  }
  if (event.key === "0") return zoom(null);
  if (!$("calls").hidden && event.target === $("scroll")) move(event);
}

function move(event) {
  const index = view.rows.findIndex((row) => row.id === view.chosen);
  const row = view.rows[index];
  const { scrollTop, clientHeight } = $("scroll");
  const page = Math.max(1, rowAt(scrollTop + clientHeight) - rowAt(scrollTop) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity, j: 1, k: -1 };
  if (event.key in steps) {
    event.preventDefault();
    const to = index < 0 ? 0 : Math.max(0, Math.min(view.rows.length - 1, index + steps[event.key]));
    choose(to);
    if (!$("details").hidden && view.rows[to]) showRow(view.rows[to]);
  } else if (row && event.key === "ArrowLeft") {
    event.preventDefault();
    const folds = row.run || row.below.length > 0;
    if (folds && !view.folded.has(row.id)) return fold(row, true);
    // Select the row above.
    for (let at = index - 1; at >= 0; at -= 1) {
      if (view.rows[at].run || view.rows[at].depth < row.depth) return choose(at);
    }
  } else if (row && event.key === "ArrowRight") {
    event.preventDefault();
    fold(row, false);
  } else if (row && event.key === "Enter") {
    event.preventDefault();
    showRow(row);
  } else if (row && event.key === "z") {
    zoomTo(row);
  }
}

/** Asks for what has changed, again and again. */
async function follow() {
  let [version, delay] = [0, 0];
  for (;;) {
    try {
      const data = await ask(`/data?after=${version}&approvals=${about.approvals.mark}`);
      version = data.version;
      about.documents = data.documents;
      $("live").textContent = "live";
      $("live").className = "on";
      const started = performance.now();
      // The bar of a running call also grows.
      const running = !$("calls").hidden && [...calls.values()].some((call) => call.took === null);
      if (take(data) || delay === 0) {
        choices();
        rebuild();
      } else if (running) {
        rebuild();
      }
      // Slow updates run less often, so that the page stays responsive.
      delay = Math.max(1000, (performance.now() - started) * 20);
    } catch (why) {
      $("live").textContent = `not live: ${plain(why.message ?? why)}`;
      $("live").className = "";
      delay = 3000;
    }
    await new Promise((done) => setTimeout(done, delay));
  }
}

about.live = !embedded;
about.documents = embedded?.documents ?? [];
listen();
if (embedded) {
  take(embedded);
  choices();
  rebuild();
} else {
  follow();
}
$("scroll").focus({ preventScroll: true });
