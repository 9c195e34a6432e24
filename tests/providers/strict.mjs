// Reads the lines of `render`, and prints {"source", "tool", "error"} for each schema of the dialect `openai-strict` that
// OpenAI's own package does not return as it is. The last line has the counts.
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const [modules, file] = process.argv.slice(2);
const { toStrictJsonSchema } = createRequire(`${modules}/`)('openai/lib/transform');

let judged = 0;
let failed = 0;
for await (const line of createInterface({ input: createReadStream(file) })) {
  const { source, tool, dialect, shown } = JSON.parse(line);
  if (dialect !== 'openai-strict' || shown?.schema === undefined) continue;
  judged += 1;
  let error = null;
  try {
    const copy = structuredClone(shown.schema);
    if (!isDeepStrictEqual(toStrictJsonSchema(copy), shown.schema)) error = 'it is changed';
  } catch (thrown) {
    error = String(thrown.message ?? thrown);
  }
  if (error !== null) {
    failed += 1;
    console.log(JSON.stringify({ source, tool, error }));
  }
}
console.log(JSON.stringify({ judged, failed }));
