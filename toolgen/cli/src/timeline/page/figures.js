// Statistics of the calls that pass the filters: number, duration, size.

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);

/** Sizes a canvas to its element and returns its context, in the pixels of the page. */
function canvas(element, width = element.clientWidth, height = element.clientHeight) {
  const ratio = window.devicePixelRatio || 1;
  [element.width, element.height] = [Math.max(1, width * ratio), Math.max(1, height * ratio)];
  const context = element.getContext("2d");
  context.scale(ratio, ratio);
  return [context, width, height];
}

/** Draws how many calls began when, stacked by status. Returns the most calls of a bar. */
function overTime(element, shown) {
  const [context, width, height] = canvas(element);
  context.clearRect(0, 0, width, height);
  const [from, to] = view.whole;
  const bins = Math.max(1, Math.floor(width / 4));
  const counts = new Map();
  for (const call of shown) {
    const bin = Math.min(bins - 1, Math.floor(((call.start - from) / (to - from)) * bins));
    if (!counts.has(call.status)) counts.set(call.status, new Uint32Array(bins));
    counts.get(call.status)[bin] += 1;
  }
  let most = 1;
  for (let bin = 0; bin < bins; bin += 1) {
    let sum = 0;
    for (const each of counts.values()) sum += each[bin];
    most = Math.max(most, sum);
  }
  const base = new Float32Array(bins);
  for (const status of STATUSES) {
    const each = counts.get(status);
    if (!each) continue;
    context.fillStyle = colour(status);
    for (let bin = 0; bin < bins; bin += 1) {
      if (!each[bin]) continue;
      // A single failure among thousands is still visible.
      const tall = Math.max(2, (each[bin] / most) * (height - 6));
      context.fillRect((bin * width) / bins, height - base[bin] - tall, Math.max(1, width / bins - 1), tall);
      base[bin] += tall;
    }
  }
  return most;
}

/** What the top of a plot stands for. */
const counted = (most) => `${most.toLocaleString()} call${most === 1 ? "" : "s"}`;

/** How much time a bar of a plot of this width stands for. */
const binName = ([from, to], width) => span(Math.max(1, (to - from) / Math.max(1, Math.floor(width / 4))));

function drawOverview() {
  const most = overTime($("histogram"), shownCalls());
  $("most").textContent = calls.size ? counted(most) : "";
  $("zero").textContent = calls.size ? "0" : "";
  const width = $("overview-axis").clientWidth;
  writeMarks($("overview-axis"), calls.size ? timeMarks(view.whole, width, false) : []);
  $("overview-name").textContent = calls.size ? `calls begun per ${binName(view.whole, width)}; ${clockName(...view.whole)}` : "";
  const brush = $("brush");
  brush.hidden = !view.range;
  if (!view.range) return;
  const [from, to] = view.whole;
  const part = (at) => ((at - from) / (to - from)) * 100;
  brush.style.left = `${part(view.range[0])}%`;
  brush.style.width = `${Math.max(0.2, part(view.range[1]) - part(view.range[0]))}%`;
}

const shownCalls = () => (isFiltered() ? [...calls.values()].filter(passes) : [...calls.values()]);

const order = { by: "calls", down: true };

/** The columns of the table: name, value to sort by, text. */
const COLUMNS = [
  ["tool", (it) => it.tool.toLowerCase(), (it) => it.tool],
  ["calls", (it) => it.calls, (it) => it.calls.toLocaleString()],
  ["failed", (it) => it.failed / it.calls, (it) => (it.failed ? `${((it.failed / it.calls) * 100).toFixed(1)} %` : "–")],
  ["refused", (it) => it.refused, (it) => it.refused || "–"],
  ["p50", (it) => it.p50, (it) => span(it.p50)],
  ["p95", (it) => it.p95, (it) => span(it.p95)],
  ["longest", (it) => it.most, (it) => span(it.most)],
  ["arguments", (it) => it.given, (it) => size(it.given)],
  ["results", (it) => it.got, (it) => size(it.got)],
  ["≈ tokens a call", (it) => it.tokens, (it) => Math.round(it.tokens).toLocaleString()],
];

function figuresOf(shown) {
  const tools = new Map();
  for (const call of shown) {
    let it = tools.get(call.tool);
    if (!it) tools.set(call.tool, (it = { tool: call.tool, calls: 0, failed: 0, refused: 0, given: 0, got: 0, times: [] }));
    it.calls += 1;
    if (call.status === "refused") it.refused += 1;
    else if (call.status !== "ok" && call.status !== "started") it.failed += 1;
    it.given += call.given;
    it.got += call.got;
    if (call.took !== null && call.status !== "refused") it.times.push(call.took);
  }
  for (const it of tools.values()) {
    it.times.sort((a, b) => a - b);
    [it.p50, it.p95, it.most] = [quantile(it.times, 0.5), quantile(it.times, 0.95), it.times[it.times.length - 1] ?? 0];
    // Four bytes of JSON are about one token.
    it.tokens = (it.given + it.got) / 4 / it.calls;
  }
  return [...tools.values()];
}

function drawFigures() {
  const shown = shownCalls();
  const tools = figuresOf(shown);
  const times = shown.filter((call) => call.took !== null && call.status !== "refused").map((call) => call.took).sort((a, b) => a - b);
  const failed = tools.reduce((sum, it) => sum + it.failed, 0);
  const numbers = make("dl", "numbers");
  const number = (name, value) => {
    const each = make("div");
    each.append(make("dt", "", name), make("dd", "", value));
    numbers.append(each);
  };
  number("calls", shown.length.toLocaleString());
  number("failed", shown.length ? `${((failed / shown.length) * 100).toFixed(1)} %` : "–");
  number("refused", tools.reduce((sum, it) => sum + it.refused, 0).toLocaleString());
  number("approved", shown.filter((call) => call.approved).length.toLocaleString());
  number("p50 of durations", span(quantile(times, 0.5)));
  number("p95 of durations", span(quantile(times, 0.95)));
  number("results", size(tools.reduce((sum, it) => sum + it.got, 0)));
  const runs = view.runs.filter((run) => run.input + run.output);
  for (const [name, of] of [["tokens in", "input"], ["tokens out", "output"]]) if (runs.length) number(name, runs.reduce((sum, run) => sum + run[of], 0).toLocaleString());
  const begun = plot("Calls over time, by status", shown.length, (canvas) => overTime(canvas, shown), () => [`calls begun per ${binName(view.whole, begun.width())}; ${clockName(...view.whole)}`, timeMarks(view.whole, begun.width(), false)]);
  const spread = plot("Durations of calls", times.length, (canvas) => durations(canvas, times, true), () => ["duration of a call, on a logarithmic scale", DURATIONS]);
  const hints = [make("p", "hint", "≈ tokens a call is an estimate of what arguments and results cost: four bytes of JSON are about one token.")];
  if (runs.length) hints.unshift(make("p", "hint", `Tokens in and out: ${TOKENS_OF.charAt(0).toLowerCase()}${TOKENS_OF.slice(1)} They are those of all runs, whatever the filters.`));
  const wide = make("div", "wide");
  wide.append(table(tools));
  $("figures").replaceChildren(numbers, begun.figure, spread.figure, make("h2", "", "Tools"), wide, ...hints);
  for (const figure of [begun, spread]) figure.draw();
  for (const cell of wide.querySelectorAll("canvas")) {
    durations(cell, tools.find((it) => it.tool === cell.dataset.tool).times, false);
  }
}

/** A plot with both of its axes: `draw` draws it and returns the most calls of a bar, `below` tells what the lower axis measures, and its marks. */
function plot(caption, any, draw, below) {
  const [figure, axes, ordinate, marks, name] = [make("figure"), make("div", "axes"), make("div", "ordinate"), make("div", "abscissa"), make("div", "axis-name")];
  const [drawn, most] = [make("canvas", "plot"), make("span")];
  ordinate.append(most, make("span", "", any ? "0" : ""));
  axes.append(ordinate, drawn, marks, name);
  figure.append(make("figcaption", "", caption), axes);
  return {
    figure,
    width: () => marks.clientWidth,
    // Only elements in the page have a size.
    draw() {
      const top = draw(drawn);
      if (!any) return;
      most.textContent = counted(top);
      const [measured, places] = below();
      name.textContent = measured;
      writeMarks(marks, places);
    },
  };
}

function table(tools) {
  const [, value] = COLUMNS.find(([name]) => name === order.by);
  tools.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a.tool < b.tool ? -1 : 1) * (order.down ? -1 : 1));
  const made = make("table");
  const head = made.createTHead().insertRow();
  for (const [name] of COLUMNS) {
    const cell = make("th");
    const sort = make("button", "", name + (order.by === name ? (order.down ? " ▾" : " ▴") : ""));
    sort.onclick = () => {
      order.down = order.by === name ? !order.down : name !== "tool";
      order.by = name;
      drawFigures();
    };
    cell.setAttribute("aria-sort", order.by === name ? (order.down ? "descending" : "ascending") : "none");
    cell.append(sort);
    head.append(cell);
  }
  head.append(make("th", "", "durations"));
  const body = made.createTBody();
  // A document may have a thousand tools; the table shows the first of the chosen order.
  for (const it of tools.slice(0, 300)) {
    const row = body.insertRow();
    for (const [name, , text] of COLUMNS) {
      const cell = row.insertCell();
      if (name !== "tool") {
        cell.textContent = text(it);
        continue;
      }
      const only = make("button", "link", text(it));
      only.onclick = () => {
        $("tool").value = it.tool;
        filters.tool = it.tool;
        refilter();
      };
      cell.append(only);
    }
    const plot = make("canvas");
    plot.dataset.tool = it.tool;
    row.insertCell().append(plot);
  }
  if (tools.length > 300) body.insertRow().insertCell().textContent = `and ${tools.length - 300} more tools`;
  return made;
}

/** The bars of a histogram of durations: from 1 ms to 1 h, each half as long again as the one before. */
const DURATION_BINS = 38;
const binOf = (time) => Math.log(Math.max(1, time)) / Math.log(1.5);
const DURATIONS = [1, 10, 100, 1000, 10e3, 60e3, 600e3].map((time) => [binOf(time) / DURATION_BINS, time < 60e3 ? (time < 1000 ? `${time} ms` : `${time / 1000} s`) : `${time / 60e3} min`]);

/** Draws a histogram of durations. Returns the most calls of a bar. */
function durations(element, times, large) {
  const bins = new Uint32Array(DURATION_BINS);
  for (const time of times) bins[Math.min(DURATION_BINS - 1, Math.max(0, Math.floor(binOf(time))))] += 1;
  const [context, width, height] = large ? canvas(element) : canvas(element, 114, 20);
  if (!large) [element.style.width, element.style.height] = ["114px", "20px"];
  const most = Math.max(1, ...bins);
  context.fillStyle = colour("started");
  bins.forEach((count, bin) => {
    const tall = count ? Math.max(2, (count / most) * (height - 2)) : 0;
    context.fillRect((bin * width) / bins.length, height - tall, width / bins.length - 1, tall);
  });
  return most;
}
