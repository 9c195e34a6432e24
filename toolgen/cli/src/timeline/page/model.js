"use strict";
// The calls, and derived data: runs, nested calls, and the calls that pass the filters.

/** The statuses, in the order in which they are stacked and offered. */
const STATUSES = ["ok", "error", "refused", "timeout", "cancelled", "unknown", "started"];

/** All calls by id, in the order in which they arrived. */
const calls = new Map();
/** The file as the page shows it: whether it is served live, and what cannot be read. */
const about = { live: false, unreadable: 0, approvals: { mark: "", file: "", rows: [] } };

/** Characters that nobody sees are shown as what they are: a text is not to look like another. Line ends and tabs are left. */
const HIDDEN = /[{{hidden}}]/gu;
const escaped = (it) => it.replace(/[^]/g, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
const plain = (text) => String(text).replace(HIDDEN, escaped);

/** A text for a shell: in quotes, which nothing in it ends. `null` for one that does more than stand there when it is pasted. */
function quoted(text) {
  if (plain(text) !== text || /[\t\n]/.test(text)) return null;
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A command of these words, ready to be pasted; `null` if one of them must not be. */
function commandOf(...words) {
  const safe = words.map(quoted);
  return safe.includes(null) ? null : safe.join(" ");
}

/** The arguments of a record: without the values of the context that a client sent, which stand beside them. */
function argumentsOf(parameters) {
  if (parameters === null || typeof parameters !== "object" || Array.isArray(parameters)) return parameters;
  const { "@client": _, ...given } = parameters;
  return given;
}

/** The command that calls a tool again; `null` if what was called is no name of a tool, or its arguments are not all there. */
function callAgain(documents, tool, parameters) {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(tool)) return null;
  if (parameters === null || typeof parameters !== "object" || Array.isArray(parameters)) return null;
  return commandOf("cargo", "toolgen", "call", ...(documents.length ? documents : ["DOCUMENT"]), tool, plain(JSON.stringify(parameters)));
}

/** The command that decides about an approval; `null` if its ID is none that a queue gives. */
function decideCommand(what, approval, ...more) {
  if (!/^[0-9a-f]{32}$/.test(approval.id)) return null;
  return commandOf("cargo", "toolgen", "approvals", what, about.approvals.file, approval.id, ...more);
}

/** Takes rows as the server writes them: texts stand once, in a table. */
function take(data) {
  const text = (index) => data.strings[index];
  for (const row of data.rows) {
    const [id, parent, owner, turn, session, agent, principal, tool, callId, at, took, status, code, why, attempt, approved, by, given, got, brief, approval, request, prompt, model, input, output, cost, program] = row;
    const start = Date.parse(text(at));
    calls.set(id, {
      id, parent, owner: text(owner), turn, session: text(session), agent: text(agent), principal: text(principal), tool: text(tool), callId,
      start: Number.isNaN(start) ? 0 : start, at: text(at), took, status: text(status), code: text(code), why, attempt, approved, by: text(by), given, got, brief, approval,
      request, prompt: text(prompt), model: text(model), input, output, cost, program: text(program),
      below: [], above: null, end: 0, words: "",
    });
  }
  about.unreadable = data.unreadable;
  if (data.approvals) about.approvals = data.approvals;
  return data.rows.length > 0 || Boolean(data.approvals);
}

/** The approvals that a call asked for or was resumed by. A record that waits says which it is; `sure` is false of those of
 *  other records, which have only the tool, the caller, the model's ID and the time in common with theirs: a model may give two calls one ID. */
function approvalsOf(call) {
  const rows = about.approvals.rows;
  if (call.approval) return rows.filter((it) => it.id === call.approval).map((approval) => ({ approval, sure: true }));
  const slack = 1000;
  const within = (at) => at >= call.start - slack && at <= call.end + slack;
  const like = rows.filter(
    (it) =>
      it.call_id === call.callId &&
      it.tool === call.tool &&
      (it.principal ?? "") === call.principal &&
      (!it.session_id || it.session_id === call.session) &&
      (within(it.asked_at) || (it.claim ? within(it.claim.at) : Boolean(it.decision?.granted && it.outcome && within(it.decision.at)))),
  );
  return like.map((approval) => ({ approval, sure: false }));
}

/** Whether two values of JSON are the same, whatever the order of their members. */
function same(left, right) {
  const sorted = (_, value) => (value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);
  return JSON.stringify(left, sorted) === JSON.stringify(right, sorted);
}

/** How far an approval is, in a few words. */
function stateOf(approval) {
  const by = approval.decision?.by ? ` by ${approval.decision.by}` : "";
  if (approval.damage) return "approval that cannot be read";
  if (approval.state === "waiting") return "waits for an approval";
  if (approval.state === "expired") return "no decision in time";
  if (approval.decision) return `${approval.decision.granted ? "granted" : "denied"}${by}`;
  return approval.state;
}

/** Finds the call above each. Where parents lead in a circle, which no program writes, one of them has none. */
function climb() {
  for (const call of calls.values()) call.walk = null;
  for (const first of calls.values()) {
    for (let call = first; call && call.walk === null; call = call.above) {
      call.walk = first;
      call.above = (call.parent === null ? undefined : calls.get(call.parent)) ?? null;
      if (call.above?.walk === first) call.above = null;
    }
  }
}

/** A run without calls yet. */
const emptyRun = (key, call) => ({
  key, id: "run " + key, run: true, session: call.session, agent: call.agent, prompt: "", calls: [], start: Infinity, end: -Infinity, count: 0, failed: 0,
  turns: new Map(), tools: new Set(), agents: new Set(), principals: new Set(), models: new Set(), requests: new Map(), input: 0, output: 0, cost: 0,
});

/** The runs: the calls of one session or, without a session, of one agent, each with the calls that it made. */
function runsOf(now) {
  const runs = new Map();
  for (const call of calls.values()) {
    call.below = [];
    call.end = call.start + (call.took ?? Math.max(0, about.live ? now - call.start : 0));
  }
  climb();
  for (const call of calls.values()) {
    if (call.above) {
      call.above.below.push(call);
      call.depth = -1;
      continue;
    }
    const key = JSON.stringify([call.owner, call.session, call.session ? "" : call.agent]);
    let run = runs.get(key);
    if (!run) runs.set(key, (run = emptyRun(key, call)));
    run.calls.push(call);
  }
  const early = (a, b) => a.start - b.start;
  for (const run of runs.values()) {
    run.calls.sort(early);
    run.prompt = run.calls.find((call) => call.prompt)?.prompt ?? "";
    // Without recursion, so that the page does not limit the depth of nested calls.
    const open = run.calls.map((call) => [call, 1]).reverse();
    while (open.length) {
      const [call, depth] = open.pop();
      call.depth = depth;
      call.of = run;
      addTo(run, call);
      call.below.sort(early);
      for (const child of call.below) open.push([child, depth + 1]);
    }
  }
  return [...runs.values()].sort(early);
}

/** Counts a call in its run. Calls of one request share its tokens. */
function addTo(run, call) {
  run.count += 1;
  if (call.status !== "ok" && call.status !== "started") run.failed += 1;
  run.start = Math.min(run.start, call.start);
  run.end = Math.max(run.end, call.end);
  if (call.turn && !run.turns.has(call.turn)) run.turns.set(call.turn, run.turns.size + 1);
  run.tools.add(call.tool);
  if (call.agent) run.agents.add(call.agent);
  if (call.principal) run.principals.add(call.principal);
  if (call.model) run.models.add(call.model);
  if (!call.request || run.requests.has(call.request)) return;
  run.requests.set(call.request, call);
  run.input += call.input;
  run.output += call.output;
  run.cost += call.cost;
}

const NUMBERS = new Intl.NumberFormat("en");

/** A number as people write it. */
const grouped = (number) => NUMBERS.format(number);

/** An amount of US dollars: with four decimals below a dollar. */
const dollars = (amount) => `$${amount < 1 ? Math.max(amount, 0.0001).toFixed(4) : amount.toFixed(2)}`;

/** The tokens that are recorded and their cost, as people write them; empty if none are. */
const tokens = ({ input, output, cost }) => [input + output ? `${grouped(input)} tokens in, ${grouped(output)} out` : "", cost ? dollars(cost) : ""].filter(Boolean).join(", ");

/** What is wanted. `found` are the ids that the server found by their arguments and results. */
const filters = { text: "", tool: "", agent: "", principal: "", status: "", found: null };
const isFiltered = () => Object.values(filters).some((value) => value);

function passes(call) {
  if (filters.tool && call.tool !== filters.tool) return false;
  if (filters.agent && call.agent !== filters.agent) return false;
  if (filters.principal && call.principal !== filters.principal) return false;
  if (filters.status && call.status !== filters.status) return false;
  if (!filters.text) return true;
  call.words ||= [call.tool, call.callId, call.session, call.agent, call.principal, call.code, call.why, call.brief, call.by, call.prompt, call.model, call.program].join("\n").toLowerCase();
  return call.words.includes(filters.text) || (filters.found !== null && filters.found.has(call.id));
}

/** The rows of the list: runs, and below each its calls. A call that does not pass is there for one below it that does. */
function rowsOf(runs, folded) {
  const rows = [];
  const filtered = isFiltered();
  let passed = 0;
  for (const run of runs) {
    const at = rows.push(run) - 1;
    const open = run.calls.slice().reverse();
    let any = false;
    // Rows that are shown only if a row below them passes.
    const waiting = [];
    while (open.length) {
      const call = open.pop();
      while (waiting.length && waiting[waiting.length - 1].depth >= call.depth) waiting.pop();
      const fits = !filtered || passes(call);
      call.dim = !fits;
      if (fits) {
        passed += 1;
        any = true;
        rows.push(...waiting.splice(0), call);
      } else if (call.below.length) {
        waiting.push(call);
      }
      if (!folded.has(call.id)) {
        for (let index = call.below.length - 1; index >= 0; index -= 1) open.push(call.below[index]);
      } else if (filtered && call.below.some(passes) && waiting.includes(call)) {
        waiting.splice(0).forEach((it) => rows.push(it));
        any = true;
      }
    }
    if (!any) rows.length = at;
    else if (folded.has(run.id)) rows.length = at + 1;
  }
  return { rows, passed };
}

/** A time span as people write it. */
function span(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60e3) return `${(ms / 1000).toFixed(ms < 10e3 ? 2 : 1)} s`;
  if (ms < 3600e3) return `${Math.floor(ms / 60e3)} min ${Math.round((ms % 60e3) / 1000)} s`;
  return `${Math.floor(ms / 3600e3)} h ${Math.round((ms % 3600e3) / 60e3)} min`;
}

function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The value below which this share of sorted values lies. */
const quantile = (sorted, share) => (sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] : 0);
