// The official client of revision 2026-07-28, as people's programs use it: connects to mcpac, lists the tools, makes the
// calls it is told to, and prints what it saw as one JSON object.
//
//   node v2_client.mjs MODE stdio '["mcpac", "serve", …]' CALLS [ANSWER]
//   node v2_client.mjs MODE http URL TOKEN CALLS [ANSWER]
//
// MODE: "legacy", "auto", or {"pin": "2026-07-28"}. CALLS: [[tool, arguments], …]. ANSWER: what the person behind the
// client answers to forms.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, kind, ...rest] = process.argv.slice(2);

function transport() {
  if (kind === 'http') {
    const [url, token] = rest.splice(0, 2);
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    return new StreamableHTTPClientTransport(new URL(url), { requestInit });
  }
  const [command, ...args] = JSON.parse(rest.shift());
  return new StdioClientTransport({ command, args, env: process.env });
}

const connection = transport();
const [calls, answer] = rest;
const client = new Client(
  { name: 'the official client, v2', version: '1' },
  {
    capabilities: answer ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode: mode.startsWith('{') ? JSON.parse(mode) : mode },
  },
);
const asked = [];
if (answer) {
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { answer } };
  });
}
await client.connect(connection);
const { tools } = await client.listTools();
const results = [];
const progress = [];
for (const [name, args] of JSON.parse(calls)) {
  try {
    results.push(await client.callTool({ name, arguments: args }, { onprogress: (report) => progress.push(report) }));
  } catch (error) {
    results.push({ thrown: error.code, message: error.message });
  }
}
const seen = {
  server: client.getServerVersion(),
  version: client.getNegotiatedProtocolVersion?.() ?? connection.protocolVersion,
  tools: tools.map((tool) => tool.name),
  results,
  progress,
  asked,
};
await client.close();
process.stdout.write(JSON.stringify(seen) + '\n');
