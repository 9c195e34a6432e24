// The list of calls on their time axis. Only visible rows are elements, so that lists of a hundred thousand rows scroll.

const $ = (id) => document.getElementById(id);
const make = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = plain(text);
  return made;
};

/** `tops` are the positions of the rows in pixels, and at its end the height of all of them. */
const view = { runs: [], rows: [], tops: new Float64Array(1), passed: 0, folded: new Set(), chosen: null, byRun: null, whole: [0, 1], range: null };

/** The time from the left to the right edge. In `byRun`, from the start of each run. */
function edges() {
  if (view.byRun) {
    let longest = 1;
    for (const run of view.runs) longest = Math.max(longest, run.end - run.start);
    return [0, longest];
  }
  return view.range ?? view.whole;
}

const timeOf = (row) => (view.byRun ? (row.of ?? row).start : 0);

/** Builds the rows anew after the calls, the filters or the folds have changed. */
function rebuild() {
  view.runs = runsOf(Date.now());
  let [from, to] = [Infinity, -Infinity];
  for (const run of view.runs) {
    from = Math.min(from, run.start);
    to = Math.max(to, run.end);
  }
  view.whole = from <= to ? [from, Math.max(to, from + 1)] : [0, 1];
  // Runs of a few seconds would be invisible on a common clock of hours.
  const busy = view.runs.reduce((sum, run) => sum + run.end - run.start, 0);
  if (view.byRun === null && view.runs.length) setAxis(view.runs.length > 1 && busy * 4 < to - from);
  refilter();
}

function refilter() {
  const { rows, passed } = rowsOf(view.runs, view.folded);
  [view.rows, view.passed] = [rows, passed];
  placeRows();
  legend();
  const all = calls.size;
  $("count").textContent = passed === all ? `${all.toLocaleString()} call${all === 1 ? "" : "s"}` : `${passed.toLocaleString()} of ${all.toLocaleString()} calls`;
  if (about.unreadable) $("count").textContent += ` · ${about.unreadable} lines cannot be read`;
  if (about.approvals.left_out) $("count").textContent += ` · ${about.approvals.left_out.toLocaleString()} older approvals are not shown`;
  totals();
  $("empty").hidden = rows.length > 0;
  $("empty").textContent = all ? "No call passes the filters." : "No call is recorded yet.";
  drawOverview();
  paint();
  if (!$("figures").hidden) drawFigures();
}

/** The runs of the log and the tokens of all of them. */
function totals() {
  const sum = { input: 0, output: 0, cost: 0 };
  for (const run of view.runs) {
    sum.input += run.input;
    sum.output += run.output;
    sum.cost += run.cost;
  }
  const runs = view.runs.length;
  $("totals").textContent = [runs ? `${runs.toLocaleString()} run${runs === 1 ? "" : "s"}` : "", tokens(sum)].filter(Boolean).join(" · ");
  $("totals").title = tokens(sum) ? TOKENS_OF : "";
}

/** What the recorded tokens are those of. */
const TOKENS_OF = "The tokens of the requests to the model that led to calls. A request that led to none, such as that for the final answer, is not recorded.";

/** The heights of rows by what their height depends on, at one width of the list. */
const heights = { width: 0, by: new Map() };

/** Finds where each row is. Rows of the same texts have the same height, so that only different ones are measured. */
function placeRows() {
  const { clientWidth: width, offsetWidth } = $("scroll");
  if (!width) return;
  if (width !== heights.width) {
    heights.width = width;
    heights.by.clear();
    $("calls").style.setProperty("--gutter", `${offsetWidth - width}px`);
  }
  const keys = view.rows.map(heightKey);
  const missing = new Map();
  keys.forEach((key, index) => {
    if (!heights.by.has(key)) missing.set(key, index);
  });
  if (missing.size) {
    const room = $("measure");
    const bounds = edges();
    const made = [...missing].map(([key, index]) => [key, element(view.rows[index], index, bounds)]);
    room.replaceChildren(...made.map(([, it]) => it));
    for (const [key, it] of made) heights.by.set(key, it.offsetHeight);
    room.replaceChildren();
  }
  view.tops = new Float64Array(keys.length + 1);
  keys.forEach((key, index) => (view.tops[index + 1] = view.tops[index] + heights.by.get(key)));
  $("space").style.height = `${view.tops[keys.length]}px`;
}

/** The row at a height in pixels. */
function rowAt(height) {
  let [low, high] = [0, view.rows.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (view.tops[middle] <= height) low = middle;
    else high = middle - 1;
  }
  return Math.min(low, Math.max(0, view.rows.length - 1));
}

const two = (number) => String(number).padStart(2, "0");
const day = (at) => `${new Date(at).getFullYear()}-${two(new Date(at).getMonth() + 1)}-${two(new Date(at).getDate())}`;

/** The time zone of the page at a time: `UTC+01:00`. */
function zone(at) {
  const minutes = -new Date(at).getTimezoneOffset();
  const [sign, all] = [minutes < 0 ? "−" : "+", Math.abs(minutes)];
  return minutes ? `UTC${sign}${two(Math.floor(all / 60))}:${two(all % 60)}` : "UTC";
}

/** What a time axis measures, with its day if it has only one. */
function clockName(from, to) {
  const days = day(from) === day(to) ? `${day(from)}, ` : "";
  return `${days}local time (${zone(from)})`;
}

function clock(at, step) {
  const date = new Date(at);
  if (step >= 86400e3) return day(at);
  // A mark at midnight shows the new day.
  if (step >= 60e3 && date.getHours() + date.getMinutes() === 0) return day(at);
  let text = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step < 60e3) text += `:${two(date.getSeconds())}`;
  if (step < 1000) text += `.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return text;
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 10800e3, 21600e3, 43200e3, 86400e3];

/** Round times of an axis of so many pixels, each with its share of the axis: times of day, or since a start. */
function timeMarks([from, to], width, sinceStart) {
  // As many as fit: times of less than a second are longer.
  const wide = (step) => (!sinceStart && step < 1000 ? 96 : 80);
  const scale = width / (to - from);
  const step = STEPS.find((it) => it * scale >= wide(it)) ?? Math.ceil(wide(86400e3) / scale / 86400e3) * 86400e3;
  const shift = sinceStart ? 0 : new Date(from).getTimezoneOffset() * 60e3;
  const marks = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at < to; at += step) {
    marks.push([(at - from) / (to - from), sinceStart ? (at ? `+${span(at).replace(/\.0+(?= )| 0 (s|min)$/, "")}` : "0") : clock(at, step)]);
  }
  return marks;
}

/** Writes marks at their places; those that do not fit at the right edge are left out. */
function writeMarks(element, marks) {
  const width = element.clientWidth || 1;
  const made = marks.map(([share, text]) => {
    const mark = make("span", "", text);
    mark.style.left = `${share * 100}%`;
    mark.hidden = share * width + text.length * 7 + 6 > width;
    return mark;
  });
  element.replaceChildren(...made);
  return marks;
}

function ticks() {
  const bounds = edges();
  const marks = writeMarks($("ticks"), timeMarks(bounds, $("ticks").clientWidth, view.byRun));
  $("axis-name").textContent = calls.size ? (view.byRun ? "time since the start of each run" : clockName(...bounds)) : "";
  $("lines").replaceChildren(
    ...marks.map(([share]) => {
      const line = make("span");
      line.style.left = `${share * 100}%`;
      return line;
    }),
  );
}

/** Shows the rows in sight. */
function paint() {
  const scroll = $("scroll");
  const first = Math.max(0, rowAt(scroll.scrollTop) - 4);
  const last = Math.min(view.rows.length, rowAt(scroll.scrollTop + scroll.clientHeight) + 5);
  const shown = [];
  const bounds = edges();
  for (let index = first; index < last; index += 1) {
    const it = element(view.rows[index], index, bounds);
    it.style.top = `${view.tops[index]}px`;
    shown.push(it);
  }
  $("space").replaceChildren(...shown);
  scroll.setAttribute("aria-rowcount", String(view.rows.length));
  const chosen = shown.find((it) => it.classList.contains("chosen"));
  if (chosen) scroll.setAttribute("aria-activedescendant", chosen.id);
  else scroll.removeAttribute("aria-activedescendant");
  ticks();
}

let painting = false;
function paintSoon() {
  if (painting) return;
  painting = true;
  requestAnimationFrame(() => {
    painting = false;
    if ($("scroll").clientWidth !== heights.width) placeRows();
    paint();
  });
}

function element(row, index, [from, to]) {
  const it = make("div", `row ${row.run ? "run" : row.status}`);
  it.id = `row-${index}`;
  it.dataset.index = index;
  it.setAttribute("role", "row");
  it.setAttribute("aria-level", row.run ? 1 : row.depth + 1);
  it.setAttribute("aria-rowindex", index + 1);
  it.setAttribute("aria-selected", String(view.chosen === row.id));
  if (row.run || row.below.length) it.setAttribute("aria-expanded", String(!view.folded.has(row.id)));
  if (view.chosen === row.id) it.classList.add("chosen");
  if (row.dim) it.classList.add("dim");
  if (row.run) it.append(headRow(row, index));
  it.append(nameOf(row, index), trackOf(row, from, to));
  if (!row.run) it.style.setProperty("--depth", Math.min(row.depth, 12));
  if (whyOf(row)) {
    const reason = make("p", "reason", whyOf(row));
    reason.setAttribute("role", "gridcell");
    it.append(reason);
  }
  return it;
}

/** Why a call failed, if it did. */
const whyOf = (row) => (row.run || row.status === "ok" ? "" : row.why);

/** What the height of a row depends on. Digits are all of one width, so that rows that differ in them alone are not measured twice. */
function heightKey(row) {
  if (row.run) return `run\n${titleOf(row)}\n${sumOf(row)}`.replace(/\d/g, "0");
  if (row.key && row.keyDepth === row.depth && row.code !== "APPROVAL_REQUIRED") return row.key;
  row.keyDepth = row.depth;
  row.key = [turnOf(row), row.tool, notesOf(row), row.brief ? "brief" : "", whyOf(row)].join("\n").replace(/\d/g, "0") + `\n${Math.min(row.depth, 12)}`;
  return row.key;
}

/** The number of the turn among those of its run; empty for a call that a model did not make. */
const turnOf = (row) => (row.depth === 1 && row.turn ? row.of.turns.get(row.turn) : "");

/** What is worth knowing of a call besides its name. */
function notesOf(row) {
  const notes = [];
  if (row.status !== "ok") notes.push(outcome(row));
  if (row.code === "APPROVAL_REQUIRED") notes.push(...approvalsOf(row).map(({ approval }) => stateOf(approval)));
  if (row.approved) notes.push(row.by ? `approved by ${row.by}` : "approved");
  else if (row.attempt > 1) notes.push(`attempt ${row.attempt}`);
  if (row.agent && row.agent !== row.of.agent) notes.push(row.agent);
  return notes.join(" · ");
}

/** The sign that folds a row, if anything is below it. */
function foldOf(row, index) {
  const folds = row.run || row.below.length > 0;
  const fold = make("span", "fold", folds ? (view.folded.has(row.id) ? "▸" : "▾") : "");
  if (folds) fold.dataset.fold = index;
  return fold;
}

/** The title of a run, on a line of its own. */
function headRow(run, index) {
  const head = make("div", "head");
  head.setAttribute("role", "gridcell");
  head.title = [run.prompt, run.session && `Session: ${run.session}`, run.agent && `Agent: ${run.agent}`].filter(Boolean).map(plain).join("\n");
  head.append(foldOf(run, index), make("time", "", `${day(run.start)} ${clock(run.start, 1000)}`), make("b", "", titleOf(run)));
  return head;
}

function nameOf(row, index) {
  const name = make("div", "name");
  name.setAttribute("role", "gridcell");
  const label = make("div", "label");
  if (row.run) {
    label.append(make("small", "", sumOf(row)));
    name.append(label);
    return name;
  }
  name.append(foldOf(row, index));
  name.append(make("span", "dot"));
  if (turnOf(row)) {
    const turn = make("span", "turn", turnOf(row));
    turn.title = `turn ${turnOf(row)} of the model`;
    name.append(turn);
  }
  label.append(make("b", "", row.tool));
  if (notesOf(row)) label.append(make("span", "notes", notesOf(row)));
  if (row.brief) {
    const brief = make("small", "brief", row.brief);
    brief.title = plain(row.brief);
    label.append(brief);
  }
  name.append(label);
  return name;
}

/** What a run is called: by its first message; else by its session, unless a program made that name up; else by its agent and its tools. */
function titleOf(run) {
  if (run.prompt) return shortened(run.prompt.replace(/\s+/g, " ").trim(), 100);
  if (isNamed(run)) return run.session;
  return shortened([run.agent, [...run.tools].join(", ")].filter(Boolean).join(": ") || "calls without a session", 100);
}

/** Whether the session has a name that a person gave it. */
const isNamed = (run) => run.session && !/^[a-z]+-[0-9a-f-]{8,}$/.test(run.session);

/** The start of a text, cut between two words. */
function shortened(text, most) {
  const letters = [...text];
  if (letters.length <= most) return text;
  return `${letters.slice(0, most).join("").replace(/\s+\S{0,20}$/, "")}…`;
}

/** A run in numbers. */
function sumOf(run) {
  const parts = [run.prompt && isNamed(run) ? run.session : "", run.prompt ? run.agent : "", ...run.models];
  parts.push(`${grouped(run.count)} call${run.count === 1 ? "" : "s"}${run.failed ? `, ${grouped(run.failed)} failed` : ""}`);
  parts.push(tokens(run));
  return parts.filter(Boolean).join(" · ");
}

/** What each status means. */
const MEANINGS = { ok: "it has a result", error: "it ran and failed", refused: "it did not run", timeout: "out of time", cancelled: "the caller left", unknown: "the program ended first", started: "it runs" };

/** What the colours, the bars and the numbers mean; only of what there is. */
function legend() {
  const all = [...calls.values()];
  const there = new Set(all.map((call) => call.status));
  const entry = (sign, text, meaning) => {
    const it = make("li", text in MEANINGS ? text : "");
    it.title = meaning;
    it.append(sign, make("b", "", text), make("span", "meaning", meaning));
    return it;
  };
  const each = STATUSES.filter((status) => there.has(status)).map((status) => entry(make("span", there.has("started") && status === "started" ? "dot open" : "dot"), status, MEANINGS[status]));
  if (all.length) each.push(entry(make("span", "dot whole"), "run", "first to last call"));
  if (all.some((call) => call.turn)) each.push(entry(make("span", "turn", "1"), "turn", "one reply of the model"));
  $("legend").replaceChildren(...each);
}

function trackOf(row, from, to) {
  const track = make("div", "track");
  track.setAttribute("role", "gridcell");
  const lane = make("div", "lane");
  track.append(lane);
  const zero = timeOf(row);
  const part = (at) => ((at - zero - from) / (to - from)) * 100;
  const [left, right] = [part(row.start), part(row.end)];
  const time = row.run ? span(row.end - row.start) : span(row.took) || "running";
  track.setAttribute("aria-label", row.run ? `run of ${time}` : `${row.status}, ${time}`);
  const took = make("span", "took", time);
  track.append(took);
  if (right < -1 || left > 101) {
    took.classList.add("away");
    return track;
  }
  const bar = make("div", row.took === null ? "bar open" : "bar");
  const [start, end] = [Math.max(left, -1), Math.min(right, 101)];
  bar.style.left = `${start}%`;
  bar.style.width = `${Math.max(end - start, 0)}%`;
  lane.append(bar);
  // Next to the bar, on the side with room, or on it.
  if (end < 85) took.style.left = `calc(${Math.max(end, 0)}% + 3px)`;
  else if (start > 12) took.style.right = `calc(${100 - Math.min(start, 100)}% + 3px)`;
  else {
    took.style.right = "3px";
    took.classList.add("over");
  }
  return track;
}

/** How a call ended; a code that only says the same again is left out. */
const outcome = (call) => call.status + (call.code && call.code.toLowerCase() !== call.status ? ` ${call.code}` : "");

/** Moves the choice to a row and brings it into sight. */
function choose(index) {
  const at = Math.max(0, Math.min(view.rows.length - 1, index));
  const row = view.rows[at];
  if (!row) return;
  view.chosen = row.id;
  const scroll = $("scroll");
  const [top, bottom] = [view.tops[at], view.tops[at + 1]];
  if (top < scroll.scrollTop) scroll.scrollTop = top;
  else if (bottom > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = bottom - scroll.clientHeight;
  paint();
}

function fold(row, folded) {
  if (folded === view.folded.has(row.id)) return;
  if (folded) view.folded.add(row.id);
  else view.folded.delete(row.id);
  refilter();
}

/** Makes this time the visible one; `null`: all of it. */
function zoom(range) {
  if (range && view.byRun) setAxis(false);
  view.range = range && range[1] > range[0] ? range : null;
  drawOverview();
  paint();
}

function setAxis(byRun) {
  view.byRun = byRun;
  $("by-run").setAttribute("aria-pressed", String(byRun));
  $("by-clock").setAttribute("aria-pressed", String(!byRun));
  if (byRun) view.range = null;
  drawOverview();
  paint();
}
