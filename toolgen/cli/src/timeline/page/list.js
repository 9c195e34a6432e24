// The list of calls on their time axis. Only visible rows are elements, so that lists of a hundred thousand rows scroll.

const ROW = 24;
const $ = (id) => document.getElementById(id);
const make = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = plain(text);
  return made;
};

const view = { runs: [], rows: [], passed: 0, folded: new Set(), chosen: null, byRun: null, whole: [0, 1], range: null };

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
  $("space").style.height = `${rows.length * ROW}px`;
  legend();
  const all = calls.size;
  $("count").textContent = passed === all ? `${all.toLocaleString()} calls` : `${passed.toLocaleString()} of ${all.toLocaleString()} calls`;
  if (about.unreadable) $("count").textContent += ` · ${about.unreadable} lines cannot be read`;
  if (about.approvals.left_out) $("count").textContent += ` · ${about.approvals.left_out.toLocaleString()} older approvals are not shown`;
  $("empty").hidden = rows.length > 0;
  $("empty").textContent = all ? "No call passes the filters." : "No call is recorded yet.";
  drawOverview();
  paint();
  if (!$("figures").hidden) drawFigures();
}

function ticks() {
  const [from, to] = edges();
  const width = $("ticks").clientWidth || 1;
  const wanted = ((to - from) / width) * 110;
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 1800e3, 3600e3, 7200e3, 21600e3, 43200e3, 86400e3];
  const step = steps.find((it) => it >= wanted) ?? Math.ceil(wanted / 86400e3) * 86400e3;
  // Marks are at local times.
  const zone = view.byRun ? 0 : new Date(from).getTimezoneOffset() * 60e3;
  const marks = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at < to; at += step) {
    const mark = make("span", "", view.byRun ? `+${span(at)}` : clock(at, step));
    mark.style.left = `${((at - from) / (to - from)) * 100}%`;
    marks.push(mark);
  }
  $("ticks").replaceChildren(...marks);
}

function clock(at, step) {
  const date = new Date(at);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  if (step >= 86400e3) return day;
  // A mark at midnight shows the new day.
  if (step >= 60e3 && date.getHours() + date.getMinutes() === 0) return day;
  let text = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step < 60e3) text += `:${two(date.getSeconds())}`;
  if (step < 1000) text += `.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return text;
}

/** Shows the rows in sight. */
function paint() {
  const scroll = $("scroll");
  const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - 4);
  const last = Math.min(view.rows.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / ROW) + 4);
  const shown = [];
  const bounds = edges();
  for (let index = first; index < last; index += 1) shown.push(element(view.rows[index], index, bounds));
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
    paint();
  });
}

function element(row, index, [from, to]) {
  const it = make("div", `row ${row.run ? "run" : row.status}`);
  it.id = `row-${index}`;
  it.dataset.index = index;
  it.style.top = `${index * ROW}px`;
  it.setAttribute("role", "row");
  it.setAttribute("aria-level", row.run ? 1 : row.depth + 1);
  it.setAttribute("aria-rowindex", index + 1);
  it.setAttribute("aria-selected", String(view.chosen === row.id));
  if (view.chosen === row.id) it.classList.add("chosen");
  if (row.dim) it.classList.add("dim");
  it.append(nameOf(row, index), trackOf(row, from, to));
  return it;
}

function nameOf(row, index) {
  const name = make("div", "name");
  name.setAttribute("role", "gridcell");
  if (!row.run) name.style.paddingLeft = `${0.75 + Math.min(row.depth, 12) * 0.9}rem`;
  const folds = row.run || row.below.length > 0;
  const fold = make("span", "fold", folds ? (view.folded.has(row.id) ? "▸" : "▾") : "");
  if (folds) fold.dataset.fold = index;
  name.append(fold);
  if (row.run) {
    const failed = row.failed ? `, ${row.failed} failed` : "";
    const own = titleOf(row);
    name.title = [row.session, row.agent, new Date(row.start).toLocaleString()].filter(Boolean).join(" · ");
    name.append(make("b", "", `${clock(row.start, 1000)} ${own}`));
    name.append(make("small", "", `${row.agent && row.agent !== own ? row.agent + " · " : ""}${row.count} call${row.count === 1 ? "" : "s"}${failed}, ${span(row.end - row.start)}`));
    return name;
  }
  name.append(make("span", "dot"));
  if (row.depth === 1 && row.turn) {
    const turn = make("span", "turn", row.of.turns.get(row.turn));
    turn.title = `turn ${row.of.turns.get(row.turn)}`;
    name.append(turn);
  }
  name.append(make("b", "", row.tool));
  const notes = [];
  if (row.status !== "ok") notes.push(outcome(row));
  if (row.code === "APPROVAL_REQUIRED") notes.push(...approvalsOf(row).map(({ approval }) => stateOf(approval)));
  if (row.approved) notes.push(row.by ? `approved by ${row.by}` : "approved");
  else if (row.attempt > 1) notes.push(`attempt ${row.attempt}`);
  if (row.agent && row.agent !== row.of.agent) notes.push(row.agent);
  notes.push(row.brief);
  name.append(make("small", "", notes.filter(Boolean).join(" · ")));
  return name;
}

/** What a run is called: its session, unless a loop made its name up; then how it began. */
function titleOf(run) {
  if (run.session && !/^[a-z]+-[0-9a-f-]{8,}$/.test(run.session)) return run.session;
  const first = run.calls[0];
  return first ? `${first.tool} ${first.brief}`.trim() : run.agent || "calls without a session";
}

/** The colours of the statuses that there are. */
function legend() {
  const there = new Set([...calls.values()].map((call) => call.status));
  const each = STATUSES.filter((status) => there.has(status)).map((status) => {
    const it = make("span", status);
    it.append(make("span", "dot"), document.createTextNode(` ${status}`));
    return it;
  });
  $("legend").replaceChildren(...each);
}

function trackOf(row, from, to) {
  const track = make("div", "track");
  track.setAttribute("role", "gridcell");
  const zero = timeOf(row);
  const part = (at) => ((at - zero - from) / (to - from)) * 100;
  const [left, right] = [part(row.start), part(row.end)];
  if (right >= -1 && left <= 101) {
    const bar = make("div", row.took === null ? "bar open" : "bar");
    const [start, end] = [Math.max(left, -1), Math.min(right, 101)];
    bar.style.left = `${start}%`;
    bar.style.width = `${Math.max(end - start, 0)}%`;
    track.append(bar);
    const took = make("span", "took", row.run ? "" : span(row.took));
    // Next to the bar, on the side with room, the reason of a failure also fits.
    if (!row.run && row.why && row.status !== "ok" && (end < 60 || left > 40)) took.append(make("span", "why", ` ${row.why.slice(0, 300)}`));
    if (end < 85) took.style.left = `calc(${Math.max(end, 0)}% + 3px)`;
    else took.style.right = `calc(${100 - Math.min(Math.max(start, 8), 100)}% + 3px)`;
    track.append(took);
    const label = row.run ? `run of ${span(row.end - row.start)}` : `${row.status}, ${span(row.took) || "running"}`;
    track.setAttribute("aria-label", label);
  }
  return track;
}

/** How a call ended; a code that only says the same again is left out. */
const outcome = (call) => call.status + (call.code && call.code.toLowerCase() !== call.status ? ` ${call.code}` : "");

/** Moves the choice to a row and brings it into sight. */
function choose(index) {
  const row = view.rows[Math.max(0, Math.min(view.rows.length - 1, index))];
  if (!row) return;
  view.chosen = row.id;
  const scroll = $("scroll");
  const top = view.rows.indexOf(row) * ROW;
  if (top < scroll.scrollTop) scroll.scrollTop = top;
  else if (top + ROW > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + ROW - scroll.clientHeight;
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
