// The official client, as people's programs use it: connects to mcpac, lists the tools, makes the
// calls it is told to, and prints what it saw as one JSON object.
//
//   node sdk_client.mjs stdio '["mcpac", "serve", …]' CALLS [ANSWER]
//   node sdk_client.mjs http URL TOKEN CALLS
//
// CALLS: [[tool, arguments], …]. ANSWER: what the person behind the client answers to forms.
import { createRequire } from 'node:module';
const require = createRequire(new URL('../servers/package.json', import.meta.url));
const sdk = (part) => import(require.resolve(`@modelcontextprotocol/sdk/${part}`));
const { Client } = await sdk('client/index.js');
const { StdioClientTransport } = await sdk('client/stdio.js');
const { StreamableHTTPClientTransport } = await sdk('client/streamableHttp.js');
const { ElicitRequestSchema } = await sdk('types.js');

const [kind, ...rest] = process.argv.slice(2);
let transport;
let calls;
let answer;
if (kind === 'stdio') {
  const [command, ...args] = JSON.parse(rest[0]);
  transport = new StdioClientTransport({ command, args, env: process.env });
  calls = JSON.parse(rest[1]);
  answer = rest[2];
} else {
  transport = new StreamableHTTPClientTransport(new URL(rest[0]), {
    requestInit: { headers: { Authorization: `Bearer ${rest[1]}` } },
  });
  calls = JSON.parse(rest[2]);
}

const client = new Client(
  { name: 'the official client', version: '1' },
  { capabilities: answer ? { elicitation: {} } : {} },
);
const asked = [];
if (answer) {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { answer } };
  });
}
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
const progress = [];
for (const [name, args] of calls) {
  try {
    results.push(
      await client.callTool({ name, arguments: args }, undefined, { onprogress: (p) => progress.push(p), timeout: 600_000 }),
    );
  } catch (error) {
    results.push({ thrown: error.code, message: error.message });
  }
}
const server = client.getServerVersion();
const instructions = client.getInstructions();
await client.close();
process.stdout.write(
  JSON.stringify({ server, tools: tools.map((tool) => tool.name), results, progress, asked, instructions }) + '\n',
);
