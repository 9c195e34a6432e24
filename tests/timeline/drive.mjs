// Drives `cargo toolgen timeline` in Chromium: node --experimental-websocket drive.mjs PROGRAM CHROMIUM [FOLDER]
//
// Without a FOLDER nothing is kept; with one, pictures of what was seen are left there. Nothing but this machine's own
// address is reached. The last line says how long things took: for people to read, no check depends on it.

import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LONG_NAME, log, PROMPTS, REASON } from "./logs.mjs";

const [program, chromium, pictures] = process.argv.slice(2);
if (pictures) mkdirSync(pictures, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "timeline-"));
const started = [];
const figures = {};
let failed = 0;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
function check(what, holds, seen) {
  if (!holds) failed += 1;
  console.log(`${holds ? "ok    " : "FAILED"}  ${what}${holds ? "" : `: ${JSON.stringify(seen)}`}`);
}

/** Starts a program and returns what a function finds in its standard error. */
function start(command, words, find) {
  const child = spawn(command, words, { stdio: ["ignore", "ignore", "pipe"] });
  started.push(child);
  return new Promise((done, fail) => {
    let told = "";
    child.stderr.on("data", (more) => {
      told += more;
      const found = find(told);
      if (found) done(found);
    });
    child.on("exit", () => fail(new Error(`${command} ended: ${told.slice(-500)}`)));
    child.on("error", fail);
  });
}

const serve = (path) => start(program, ["timeline", path], (told) => told.match(/http:\/\/\S+/)?.[0]);

/** A page of the browser. */
class Page {
  constructor(socket) {
    this.socket = socket;
    this.next = 0;
    this.waiting = new Map();
    this.dialogs = 0;
    this.errors = [];
    this.requests = [];
    socket.onmessage = ({ data }) => {
      const { id, result, error, method, params } = JSON.parse(data);
      if (method === "Page.javascriptDialogOpening") {
        this.dialogs += 1;
        this.send("Page.handleJavaScriptDialog", { accept: false });
      }
      if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
      const wait = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) wait?.fail(new Error(error.message));
      else wait?.done(result);
    };
  }

  send(method, params = {}) {
    const id = (this.next += 1);
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression holds, and returns whether it ever did. */
  async until(expression, limit = 60_000) {
    for (const end = Date.now() + limit; Date.now() < end; await sleep(20)) {
      if (await this.run(expression)) return true;
    }
    return false;
  }

  async key(key, text) {
    const codes = { ArrowDown: 40, ArrowUp: 38, ArrowLeft: 37, ArrowRight: 39, Enter: 13, Escape: 27, End: 35, Home: 36, Tab: 9 };
    const params = { key, code: key, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0), text };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...params });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...params, text: undefined });
  }

  async type(text) {
    for (const letter of text) await this.key(letter, letter);
  }

  async open(url) {
    await this.send("Page.navigate", { url });
    await this.until(`document.readyState === "complete"`);
  }

  async look(width, height, dark = false) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    await sleep(200);
  }

  async picture(name) {
    if (!pictures) return;
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(join(pictures, `${name}.png`), Buffer.from(data, "base64"));
  }
}

async function browser() {
  const profile = join(folder, "profile");
  const words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"];
  const port = await start(chromium, words, (told) => told.match(/DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)/)?.[1]);
  const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(targets.find((it) => it.type === "page").webSocketDebuggerUrl);
  await new Promise((done) => (socket.onopen = done));
  const page = new Page(socket);
  for (const domain of ["Page", "Runtime", "Network"]) await page.send(`${domain}.enable`);
  return page;
}

const count = `document.getElementById("count").textContent`;
const details = `document.getElementById("details").innerText`;
const fits = `document.documentElement.scrollWidth <= innerWidth`;

async function empty(page) {
  const path = join(folder, "empty.jsonl");
  writeFileSync(path, "");
  await page.look(1280, 800);
  await page.open(await serve(path));
  check("an empty log has a message", await page.until(`document.getElementById("empty").textContent === "No call is recorded yet."`));
  await page.picture("empty");
  const [last, ...others] = log(30).trimEnd().split("\n").reverse();
  appendFileSync(path, others.reverse().join("\n") + "\n");
  const running = `document.getElementById("legend").textContent.includes("started") && document.querySelector("#space .bar.open") !== null`;
  check("a running call is striped, and the legend says so", await page.until(`${count} === "30 calls" && (choose(view.rows.length - 1), ${running})`), await page.run(`document.getElementById("legend").textContent`));
  await page.picture("running");
  appendFileSync(path, `${last}\n`);
  check("until its end is recorded", await page.until(`!(${running})`));
  check("a log that grows is followed", await page.until(`${count} === "30 calls"`), await page.run(count));
}

async function one(page) {
  const path = join(folder, "run.jsonl");
  writeFileSync(path, log(30));
  await page.look(1280, 800);
  await page.open(await serve(path));
  check("one run is shown", await page.until(`${count} === "30 calls"`), await page.run(count));
  await page.picture("run");
  // With the keyboard alone.
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.key(key);
  check("Enter shows a call", await page.until(`${details}.includes("Arguments")`), await page.run(details));
  check("with the command that calls it again", (await page.run(details)).includes("cargo toolgen call DOCUMENT get_issue '{\"owner\""));
  check("and the calls that it made", (await page.run(details)).includes("Nested calls (2)"));
  await page.picture("details");
  await page.key("Escape");
  check("Escape hides it", await page.run(`document.getElementById("details").hidden && document.activeElement.id === "scroll"`));
  const rows = await page.run("view.rows.length");
  await page.key("ArrowLeft");
  check("ArrowLeft folds", (await page.run("view.rows.length")) === rows - 2);
  await page.key("ArrowRight");
  check("ArrowRight unfolds", (await page.run("view.rows.length")) === rows);
  await page.key("z", "z");
  check("z zooms", await page.run("view.range !== null && !document.getElementById('brush').hidden"));
  await page.key("0", "0");
  check("0 shows the whole time", await page.run("view.range === null"));
  await page.key("/", "/");
  await page.type("needle");
  check("a text is found in results", await page.until(`${count} === "1 of 30 calls"`), await page.run(count));
  await page.key("Escape");
  await page.run(`document.getElementById("reset").click()`);
  check("filters are cleared", await page.run(`${count} === "30 calls"`));
  await page.run(`const status = document.getElementById("status"); status.value = "timeout"; status.onchange({ target: status })`);
  check("a status is chosen", /^\d+ of 30 calls$/.test(await page.run(count)), await page.run(count));
  await page.run(`document.getElementById("reset").click(); document.getElementById("to-figures").click()`);
  check("figures are there", await page.run(`document.querySelectorAll("#figures tbody tr").length > 3 && document.querySelectorAll("#figures canvas").length > 5`));
  const axes = await page.run(`[...document.querySelectorAll("#figures figure")].map((figure) => figure.innerText)`);
  check("the axes of figures say what they count, and when", axes.length === 2 && axes.every((text) => /\d calls?\b/.test(text)) && /\d:\d\d.*\d:\d\d/s.test(axes[0]), axes);
  await page.picture("figures");
  await page.run(`document.getElementById("to-calls").click()`);
  await page.look(420, 800, true);
  check("a narrow window needs no scrolling sideways", await page.run(fits), await page.run("document.documentElement.scrollWidth"));
  await page.picture("narrow-dark");
  await page.look(1280, 800, true);
  const colours = await page.run(`getComputedStyle(document.body).backgroundColor`);
  check("dark is dark", colours === "rgb(22, 24, 28)", colours);
  await page.picture("dark");
}

/** The tokens that a log records: calls of one request share them. */
function tokensOf(lines) {
  const requests = new Map();
  for (const line of lines) {
    const request = JSON.parse(line).parameters?.["@request"];
    if (request) requests.set(request.number, request);
  }
  const sum = (name) => [...requests.values()].reduce((all, it) => all + it[name], 0).toLocaleString("en");
  const cost = [...requests.values()].reduce((all, it) => all + it.cost_usd, 0);
  return `${sum("input_tokens")} tokens in, ${sum("output_tokens")} out, $${cost < 1 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

/** Texts whose contrast with what is behind them is less than people need, and colours of statuses that are hard to tell from the page. */
const faint = `(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number).map((it, index) => (colour.startsWith("color(") && index < 3 ? it * 255 : it));
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map((it) => ((it /= 255) <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (it) => {
    for (; it; it = it.parentElement) {
      const colour = getComputedStyle(it).backgroundColor;
      if ((numbers(colour)[3] ?? 1) === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const bad = [];
  const texts = "h1, h1 span, #count, #totals, button, select, .abscissa span, .axis-name, .ordinate span, #legend b, .meaning, .row b, .row small, .notes, .turn, .reason, .took, dt, dd, .key, .kind, .string, .number, .mark, .why, figcaption, th, td, .hint";
  const seen = [...document.querySelectorAll(texts)].filter((it) => it.textContent.trim() && it.getClientRects().length && !it.closest(".dim"));
  for (const it of seen) {
    const found = contrast(getComputedStyle(it).color, behind(it));
    if (found < 4.5) bad.push([it.className || it.tagName, it.textContent.slice(0, 20), found]);
  }
  for (const it of document.querySelectorAll("#legend .dot:not(.whole, .open)")) {
    const found = contrast(getComputedStyle(it).backgroundColor, behind(it.parentElement));
    if (found < 3) bad.push([it.parentElement.className, found]);
  }
  return seen.length > 20 ? bad : ["too few texts", seen.length];
})()`;

/** Names and reasons in sight that are cut, run out of the window, or lie on the row below. */
const cropped = `[...document.querySelectorAll("#space .row")].flatMap((row) => {
  const bad = [...row.querySelectorAll("b, .notes, .reason, .run small")].filter((it) => {
    const box = it.getBoundingClientRect();
    return it.scrollWidth > it.clientWidth + 1 && getComputedStyle(it).display !== "inline" || box.right > innerWidth || box.bottom > row.getBoundingClientRect().bottom + 1 || getComputedStyle(it).textOverflow === "ellipsis";
  });
  const [index, box] = [Number(row.dataset.index), row.getBoundingClientRect()];
  if (Math.abs(box.height - (view.tops[index + 1] - view.tops[index])) > 1) bad.push(row);
  return bad.map((it) => it.textContent);
})`;

/** What a stranger needs: titles, tokens, axes, a legend; all of it whole in a wide and in a narrow window, dark and light. */
async function readable(page) {
  const path = join(folder, "readable.jsonl");
  const lines = log(1200).trimEnd().split("\n");
  writeFileSync(path, lines.join("\n") + "\n");
  const url = await serve(path);
  for (const [width, dark] of [[1280, false], [1280, true], [400, false], [400, true]]) {
    const at = `${width} px, ${dark ? "dark" : "light"}`;
    await page.look(width, 800, dark);
    await page.open(url);
    await page.until(`${count} === "1,200 calls"`);
    await titles(page, at, lines);
    await axes(page, at);
    const meanings = await page.run(`[...document.querySelectorAll("#legend li")].filter((it) => it.getBoundingClientRect().right <= innerWidth).map((it) => it.textContent)`);
    for (const word of ["ok", "error", "refused", "timeout", "cancelled", "run", "1turn"]) check(`${at}: the legend has ${word}`, meanings.some((it) => it.startsWith(word)), meanings);
    await whole(page, at);
    check(`${at}: texts and colours are clear`, (await page.run(faint)).length === 0, await page.run(faint));
    check(`${at}: nothing is beside the window`, await page.run(fits), await page.run("document.documentElement.scrollWidth"));
    await page.picture(`calls-${width}-${dark ? "dark" : "light"}`);
    await values(page, at);
    await page.picture(`details-${width}-${dark ? "dark" : "light"}`);
    check(`${at}: texts of details are clear`, (await page.run(faint)).length === 0, await page.run(faint));
    check(`${at}: the focus is seen`, (await unfocused(page)).length === 0, await unfocused(page));
    await page.run(`hide(); document.getElementById("to-figures").click()`);
    check(`${at}: texts of figures are clear`, (await page.run(faint)).length === 0, await page.run(faint));
    check(`${at}: figures have the tokens`, (await page.run(`document.querySelector(".numbers").innerText.replace(/\\s+/g, " ")`)).includes(`tokens in ${tokensOf(lines).split(" ")[0]} tokens out`), await page.run(`document.querySelector(".numbers").innerText`));
    await page.picture(`figures-${width}-${dark ? "dark" : "light"}`);
    await page.run(`document.getElementById("to-calls").click()`);
  }
}

async function titles(page, at, lines) {
  const heads = await page.run(`view.runs.slice(0, 3).map((run) => (choose(view.rows.indexOf(run)), document.querySelector(".row.chosen .head"))).map((it) => [it.querySelector("b").textContent, it.querySelector("time").textContent, it.title])`);
  const began = await page.run(`(() => { const at = new Date(Date.parse("2026-11-22T22:00:00Z")); return new Date(at - at.getTimezoneOffset() * 60e3).toISOString().slice(0, 19).replace("T", " "); })()`);
  check(`${at}: a run is called by its first message and its local time`, heads[0][0] === PROMPTS[0] && heads[0][1] === began && heads[1][0] === PROMPTS[1], heads);
  check(`${at}: a run without one by its agent and its tools, and its session is kept`, /^triage: [a-z_]+(, |$)/.test(heads[2][0]) && heads[2][2].includes("loop-60537d2a-3"), heads[2]);
  const first = tokensOf(lines.filter((line) => JSON.parse(line).session_id === "s-1"));
  const sum = await page.run(`choose(0), document.querySelector(".row.chosen small").textContent`);
  check(`${at}: a run says its model and its tokens`, sum.includes(first) && sum.includes("claude-sonnet-5-5"), [sum, first]);
  check(`${at}: the log says the tokens of all runs`, (await page.run(`document.getElementById("totals").textContent`)).endsWith(` runs · ${tokensOf(lines)}`), await page.run(`document.getElementById("totals").textContent`));
}

async function axes(page, at) {
  const seen = await page.run(`(() => {
    const texts = (id) => [...document.querySelectorAll("#" + id + " span:not([hidden])")].map((it) => it.textContent);
    const names = ["axis-name", "overview-name"].map((id) => document.getElementById(id).textContent);
    return { names, ticks: texts("ticks"), overview: texts("overview-axis"), top: document.getElementById("most").textContent, zero: document.getElementById("zero").textContent };
  })()`);
  const clocks = (marks) => marks.length > 1 && marks.every((it) => /^\d\d:\d\d|^\d{4}-/.test(it));
  check(`${at}: axes have marks`, seen.overview.length > 1 && seen.ticks.length > 1 && clocks(seen.overview) && /^\d+ calls?$/.test(seen.top) && seen.zero === "0", seen);
  check(`${at}: axes say what they measure, and in which unit`, seen.names.every((it) => /local time \(UTC/.test(it) || it === "time since the start of each run") && /^calls begun per [\d.]+ \w+( \d+ \w+)?; /.test(seen.names[1]), seen);
  await page.run(`document.getElementById("by-run").click()`);
  const since = await page.run(`[document.getElementById("axis-name").textContent, document.querySelectorAll("#ticks span:not([hidden])")[1].textContent]`);
  check(`${at}: an axis from the start of a run counts from there`, since[0] === "time since the start of each run" && /^\+[\d.]+ (ms|s|min|h)/.test(since[1]), since);
  await page.run(`document.getElementById("by-clock").click()`);
}

async function whole(page, at) {
  const long = await page.run(`(choose(view.rows.findIndex((row) => row.tool === ${JSON.stringify(LONG_NAME)})), document.querySelector(".row.chosen b").textContent)`);
  check(`${at}: a long name is there`, long === LONG_NAME, long);
  check(`${at}: no name is cut`, (await page.run(`${cropped}`)).length === 0, await page.run(`${cropped}`));
  await page.run(`choose(view.rows.findIndex((row) => row.status === "error"))`);
  const reason = await page.run(`(() => { const it = document.querySelector(".row.chosen .reason"); return [it.textContent, it.getBoundingClientRect().width / innerWidth, it.offsetHeight]; })()`);
  check(`${at}: a reason is whole, and uses the width of the window`, reason[0] === REASON && reason[1] > 0.9 && reason[2] > 20, reason);
  check(`${at}: no reason is cut`, (await page.run(`${cropped}`)).length === 0, await page.run(`${cropped}`));
}

/** Arguments and results as a tree, and what the details call things. */
async function values(page, at) {
  await page.run(`reveal([...calls.values()].find((call) => call.status === "ok" && call.model && call.depth === 1 && call.got > 150 && call.callId !== "call_17" && Number(call.callId.slice(5)) % 3).id)`);
  await page.until(`${details}.includes("Repeat this call")`);
  const text = await page.run(details);
  const names = await page.run(`[...document.querySelectorAll("#details dt")].map((it) => it.textContent)`);
  check(`${at}: details name things rightly`, ["Run", "Model", "Tokens", "Call ID", "Session ID"].every((name) => names.includes(name)) && !names.includes("ID of the model"), names);
  check(`${at}: the request of a call is not one of its arguments`, !text.includes("@request"), text);
  const tree = await page.run(`[...document.querySelectorAll("#details .tree")].map((it) => it.innerText).join(" | ")`);
  check(`${at}: JSON in a text is a tree, however deep, and said to be a text`, (await page.run(`document.querySelectorAll("#details .tree .mark").length`)) === 2 && /lines: \[2 items\]/.test(tree) && /0: "first"/.test(tree) && !tree.includes("\\\""), tree);
  await page.run(`document.querySelector("#details .tree .mark").closest("summary").focus()`);
  await page.key("Enter", "\r");
  check(`${at}: a branch folds with the keyboard`, await page.until(`!document.querySelectorAll("#details .tree")[1].innerText.includes("nightly")`, 2000));
  await page.key("Enter", "\r");
  check(`${at}: and unfolds`, await page.until(`document.querySelectorAll("#details .tree")[1].innerText.includes("nightly")`, 2000));
  await page.run(`[...document.querySelectorAll("#details .link")][0].click()`);
  check(`${at}: a run has details`, await page.until(`${details}.includes("First message") && ${details}.includes("requests to the model") && ${details}.includes("Session ID")`, 2000), await page.run(details));
  await page.run(`show(view.chosen)`);
  await page.until(`${details}.includes("Repeat this call")`);
}

/** The elements that Tab reaches and that do not show that they have the focus. */
async function unfocused(page) {
  const bad = [];
  for (let left = 25; left > 0; left -= 1) {
    await page.key("Tab");
    const seen = await page.run(`(() => { const it = document.activeElement; const style = getComputedStyle(it); return it === document.body || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) ? "" : it.outerHTML.slice(0, 80); })()`);
    if (seen) bad.push(seen);
  }
  return bad;
}

/** What waits comes from a database, which this program cannot write: the page is given it as the server would. */
async function approvals(page) {
  const path = join(folder, "approvals.jsonl");
  writeFileSync(path, log(5));
  await page.look(1280, 800);
  await page.open(await serve(path));
  await page.until(`${count} === "5 calls"`);
  const give = (more, approval = "3f9a".repeat(8)) => page.run(`{
    const call = view.rows[1];
    Object.assign(call, { code: "APPROVAL_REQUIRED", approval: "${approval}" });
    const own = { id: "3f9a".repeat(8), shown: { repo: "cargo", owner: "it's", number: 1 }, call_id: call.callId, tool: call.tool, principal: call.principal, session_id: call.session, asked_at: call.start + 1, expires_at: call.start + 60_000, reasons: ["It costs <b>money</b>."] };
    const more = ${JSON.stringify(more)};
    if (more.decision) more.decision.at = call.start + 2;
    if (more.claim) more.claim.at = call.start + 3;
    about.approvals = { mark: "x", file: "it's.sqlite", rows: [{ ...own, ...more }, { ...own, id: "77".repeat(16), shown: { to: "Mallory" }, state: "waiting" }] };
    paint();
    choose(1);
    show(view.chosen);
  }`);
  const row = `document.getElementById("row-1").innerText`;
  await give({ state: "waiting" });
  check("a call that waits says so", await page.until(`${row}.includes("waits for an approval")`), await page.run(row));
  check("with the commands that decide", await page.until(`${details}.includes("cargo toolgen approvals deny 'it'\\\\''s.sqlite' ${"3f9a".repeat(8)} --by NAME --note WHY")`), await page.run(details));
  check("and the arguments that are sealed, which are those of the record", !(await page.run(details)).includes("not the arguments of the record"), await page.run(details));
  check("and nothing of another call of the same ID", !/Mallory|7777/.test(await page.run(details)), await page.run(details));
  check("and the reasons as text", (await page.run(details)).includes("It costs <b>money</b>."));
  await page.picture("approval");
  await give({ state: "waiting", shown: { number: 1_000_000 } });
  check("arguments that middleware changed are shown, and said to differ", await page.until(`${details}.includes("1000000") && ${details}.includes("not the arguments of the record")`), await page.run(details));
  await give({ state: "waiting" }, "");
  check("of a record that names no approval all are shown, with their arguments", await page.until(`${details}.includes("Mallory") && ${details}.includes("does not name its approval")`), await page.run(details));
  check("and none is to be granted there", !(await page.run(details)).includes("approvals grant") && (await page.run(details)).includes("approvals show"), await page.run(details));
  for (const id of ["$(touch ran)", "3f9a", "3F9A".repeat(8)]) {
    await give({ state: "waiting", id }, id);
    await page.until(`${details}.includes("Waiting since")`);
    check(`an approval of the ID ${id} has no command`, !(await page.run(details)).includes("cargo toolgen approvals"), await page.run(details));
  }
  await give({ state: "started", decision: { granted: true, by: "Eve", note: "it is due" }, claim: { worker: "worker-1" } });
  check("a decision says whose it is", await page.until(`${row}.includes("granted by Eve")`), await page.run(row));
  const told = await page.run(details);
  check("the worker of a running call is shown, with a warning", await page.until(`${details}.includes("worker-1")`) && (await page.run(details)).includes("it may have taken effect"), told);
  check("what is decided is not to be decided", !(await page.run(details)).includes("approvals grant"));
  await page.run(`choose(2); show(view.chosen)`);
  check("the approval is that of its own call", await page.until(`!${details}.includes("worker-1")`), await page.run(details));
}

/** What a log says that wants to be more than a log. */
async function hostile(page) {
  const path = join(folder, "hostile.jsonl");
  writeFileSync(path, log(12, true));
  await page.look(1280, 800);
  await page.open(await serve(path));
  await page.until(`${count} === "12 calls"`);
  await page.run(`choose(1); show(view.chosen)`);
  await page.until(`${details}.includes("Arguments")`);
  check("a text that hides others is shown as it is", (await page.run(details)).includes("\\u202e"));
  for (const mark of ["\\udb40\\udc41\\u034f\\u3164\\ufe0f", "\\u009b201~"]) check(`invisible characters are shown as ${mark}`, (await page.run(details)).includes(mark), await page.run(details));
  const copied = `[...document.querySelectorAll("#details section")].filter((it) => it.firstChild.textContent.startsWith("Repeat this call")).map((it) => it.lastChild.textContent)`;
  const commands = await page.run(`(async () => {
    const all = [];
    for (const call of calls.values()) {
      await show(call.id);
      for (const command of ${copied}) all.push([call.tool, command]);
    }
    return all;
  })()`);
  check("what is not a name of a tool has no command", commands.length === 2 && commands.every(([tool]) => tool === "get_issue"), commands);
  check("and a command is of characters that are seen", commands.every(([, command]) => /^[ -~]+$/.test(command) && command.includes("\\u009b201~'\\''; touch")), commands);
  check("calls that are each other's parents are shown", await page.run(`view.rows.filter((row) => !row.run).length === 12 && calls.get("run-12").depth + calls.get("run-11").depth === 3`), await page.run(`view.rows.map((row) => [row.id, row.depth])`));
  check("and found", await page.run(`["run-10", "run-11", "run-12"].every((id) => (reveal(id), view.chosen === id))`));
  await page.run(`choose(1); show(view.chosen)`);
  check("a result of a megabyte is cut, and shown whole when wanted", await page.run(`[...document.querySelectorAll("#details button")].some((it) => it.textContent.startsWith("Show all 1,"))`));
  await page.picture("hostile");
  await page.run(`document.getElementById("to-figures").click()`);
  await page.picture("hostile-figures");
  const elements = await page.run(`[document.querySelectorAll("img, iframe, object, link, [onerror]").length, document.querySelectorAll("script").length]`);
  check("no element comes from the log", elements[0] === 0 && elements[1] === 2, elements);
  check("nothing ran", page.dialogs === 0 && (await page.run("window.ran === undefined")));
  check("a long name does not push the page aside", await page.run(fits));
}

async function many(page) {
  const path = join(folder, "many.jsonl");
  writeFileSync(path, log(100_000));
  const begun = performance.now();
  const url = await serve(path);
  figures["read by the program, s"] = (performance.now() - begun) / 1000;
  await page.look(1280, 800);
  const opened = performance.now();
  await page.open(url);
  check("100,000 calls are shown", await page.until(`${count} === "100,000 calls"`), await page.run(count));
  figures["opened by the browser, s"] = (performance.now() - opened) / 1000;
  await page.picture("many");
  // The longest time between two frames while the list is scrolled from its start to its end.
  figures["longest pause of scrolling, ms"] = await page.run(`new Promise((done) => {
    const scroll = document.getElementById("scroll");
    let [last, longest, steps] = [performance.now(), 0, 0];
    const frame = (now) => {
      longest = Math.max(longest, now - last);
      last = now;
      steps += 1;
      scroll.scrollTop = steps < 100 ? steps * 400 : (steps / 300) * scroll.scrollHeight;
      if (steps < 300) requestAnimationFrame(frame);
      else done(longest);
    };
    requestAnimationFrame(frame);
  })`);
  check("the last call is reached", await page.run(`document.getElementById("row-" + (view.rows.length - 1)) !== null`));
  await page.key("Home");
  check("no more elements than fit the window", (await page.run(`document.querySelectorAll(".row").length`)) < 60);
}

try {
  const page = await browser();
  for (const part of [empty, one, readable, approvals, hostile, many]) await part(page);
  check("no error in the page", page.errors.length === 0, page.errors);
  const strange = page.requests.filter((url) => !/^(http:\/\/127\.0\.0\.1:|about:|data:)/.test(url));
  check("nothing is loaded from elsewhere", strange.length === 0, strange);
} catch (why) {
  check("it runs", false, String(why.stack ?? why));
} finally {
  for (const child of started) {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  }
  await sleep(200);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
console.log(Object.entries(figures).map(([name, value]) => `${name}: ${value.toFixed(2)}`).join(" · "));
process.exit(failed ? 1 : 0);
