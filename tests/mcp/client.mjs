// The TypeScript SDKs as clients: node client.mjs '{"sdk": 1 or 2, "command": […] or "url", "era", "calls": [[tool, arguments]…]}'.
// Prints {"era", "tools": [name…], "answers": [[is error, text]…]}.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { sdk, command, url, env, era, calls } = JSON.parse(process.argv[2]);
const require = createRequire(pathToFileURL(`${process.cwd()}/`));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

let Client, Stdio, Http;
if (sdk === 1) {
  ({ Client } = await load("@modelcontextprotocol/sdk/client/index.js"));
  ({ StdioClientTransport: Stdio } = await load("@modelcontextprotocol/sdk/client/stdio.js"));
  ({ StreamableHTTPClientTransport: Http } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js"));
} else {
  ({ Client, StreamableHTTPClientTransport: Http } = await load("@modelcontextprotocol/client"));
  ({ StdioClientTransport: Stdio } = await load("@modelcontextprotocol/client/stdio"));
}

const options = sdk === 1 ? {} : { versionNegotiation: { mode: era === "modern" ? "auto" : "legacy" } };
const client = new Client({ name: "check", version: "1" }, options);
const transport = command
  ? new Stdio({ command: command[0], args: command.slice(1), env: { ...process.env, ...env } })
  : new Http(new URL(url));
await client.connect(transport);

const tools = [];
let cursor;
do {
  const page = await client.listTools(cursor === undefined ? {} : { cursor });
  tools.push(...page.tools.map((tool) => tool.name));
  cursor = page.nextCursor;
} while (cursor !== undefined && tools.length < 10_000);

const answers = [];
for (const [name, args] of calls) {
  const result = await client.callTool({ name, arguments: args });
  answers.push([result.isError === true, result.content.map((block) => block.text ?? block.type).join("\n")]);
}
const version = transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.();
await client.close();
console.log(JSON.stringify({ version, tools, answers }));
