// Audit logs as `JsonLinesSink` writes them, for the page to show.

/** A name as long as names of tools may be. */
export const LONG_NAME = "observability__search_error_groups_by_release_and_by_environment";
const TOOLS = ["get_issue", "search_repositories", "list_pulls", "merge_pull", "filesystem__read_file", LONG_NAME, "weather", "send_mail"];
/** What the users of the runs asked first; the program that made the third run did not record it. */
export const PROMPTS = ["Find out why the nightly build of the tools fails, and merge the pull request that mends it.", "Which issues of this week has nobody answered yet?", ""];
/** What a server says when it fails: longer than a line. */
export const REASON = "the server answered 500: the upstream index of repositories did not respond within 30 seconds, and its replica is 4 hours behind; try again after the maintenance, which ends at 23:30, or ask for fewer repositories at once";
const ENDS = ["error", "refused", "timeout", "cancelled"];

/** Numbers that are the same each time. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The lines of a log of so many calls; in a hostile one, texts would like to be more than texts. */
export function log(calls, hostile = false) {
  const next = random(7);
  const lines = [];
  let [made, turn, session, now] = [0, 0, 1, Date.UTC(2026, 10, 22, 22)];
  const add = (tool, parent, start, took, more = {}) => {
    made += 1;
    const number = made;
    const end = parent === undefined && number % 9 === 0 ? ENDS[Math.floor(number / 9) % ENDS.length] : "ok";
    const prompt = PROMPTS[(session - 1) % PROMPTS.length];
    const request = { "@request": { number: turn, prompt, model: "claude-sonnet-5-5", input_tokens: 1000 + turn, output_tokens: 100, cost_usd: 0.0125 } };
    const intent = {
      event: "intent", call: `run-${number}`, ...(parent && { parent: `run-${parent}` }), timestamp: new Date(start).toISOString(), session_id: prompt ? `s-${session}` : `loop-60537d2a-${session}`,
      agent_id: parent ? "researcher" : "triage", principal: "alice", tool_name: tool, tool_call_id: `call_${number}`, parameters: { owner: "it's", repo: "cargo", number, ...(prompt && request) },
      spec_hash: "ab".repeat(32), attempt: tool === "merge_pull" ? 2 : 1, approved: tool === "merge_pull", approved_by: tool === "merge_pull" ? "carol" : "", turn, ...more,
    };
    const { parameters, ...outcome } = intent;
    const found = JSON.stringify({ total: 2, items: [{ id: 7, labels: ["bug", "nightly"], body: JSON.stringify({ lines: ["first", "second"] }) }, { id: 9, labels: [] }] });
    const said = number === 17 ? "a needle" : number % 3 ? found : "It is 12 °C and rains. ".repeat(1 + Math.floor(next() * 20));
    const result = end === "ok" ? { content: [{ type: "text", text: said }] } : null;
    Object.assign(outcome, { event: "outcome", status: end, result: more.result ?? result, error: end === "ok" ? null : end === "error" ? REASON : `${end} after ${took} ms`, error_code: end === "ok" ? null : end.toUpperCase(), is_error: end !== "ok", duration_ms: took });
    delete intent.result;
    lines.push(JSON.stringify(intent), JSON.stringify(outcome));
    return number;
  };
  while (made < calls) {
    turn += 1;
    let longest = 0;
    for (let left = 1 + Math.floor(next() * 3); left > 0 && made < calls; left -= 1) {
      const tool = made === 0 ? TOOLS[0] : TOOLS[Math.floor(next() * TOOLS.length)];
      const took = Math.floor(20 + next() ** 3 * 4000);
      longest = Math.max(longest, took);
      if (hostile) {
        const name = ["\u202eloot\u202c<img src=x onerror=ran=1>", "<script>ran=1</script>", "a".repeat(300), "x\u0003\ntouch ran\n#", "--help", "get_issue"][made % 6];
        // The parent of the last two is the other one, and the one before is its own.
        const parent = made < calls - 3 ? undefined : [calls - 2, calls, calls - 1][made - calls + 3];
        add(name, parent, now, took, { parameters: { html: "</script><script>ran=1;alert(1)</script>", mark: "\u202etxt.exe\u2066", tag: "\u{e0041}\u034f\u3164\ufe0f", keys: "\u009b201~'; touch ran #" }, result: made === 0 ? { content: "y".repeat(1_100_000) } : "</pre><svg onload=alert(2)>", session_id: "<b>s</b>" });
        continue;
      }
      const parent = add(tool, undefined, now, took);
      if (tool === "get_issue" && made + 2 <= calls) for (const part of [0, 1]) add("search_repositories", parent, now + (part * took) / 2, Math.floor(took / 2));
    }
    now += longest + 500;
    if (calls > 1000 && next() < 0.1) [session, now] = [session + 1, now + 20_000];
  }
  return lines.join("\n") + "\n";
}
