// An MCP server over stdio that decodes arguments as those of other languages do. Plain node, no dependencies.
//
//   read  as Go's encoding/json: a name is taken in any case (Unicode simple folding), and the last one wins.
//   act   as zod and pydantic: what an optional object leaves out is filled in by its default.
//
// Both answer what they understood.
import { createInterface } from 'node:readline';

const tools = [
  {
    name: 'read',
    inputSchema: { type: 'object', properties: { path: { type: 'string' }, key: { type: 'string' } }, required: ['path'] },
  },
  {
    name: 'act',
    inputSchema: {
      type: 'object',
      properties: { options: { anyOf: [{ $ref: '#/$defs/Options' }, { type: 'null' }], default: null } },
      $defs: { Options: { type: 'object', properties: { mode: { type: 'string', default: 'erase' } } } },
    },
  },
];

const folded = (name) => name.toLowerCase().replaceAll('\u017f', 's').replaceAll('\u212a', 'k');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

function understood(name, args) {
  if (name === 'act') return args.options === null ? 'nothing' : `mode ${args.options.mode ?? 'erase'}`;
  let path = '';
  for (const [member, value] of Object.entries(args)) if (folded(member) === 'path') path = value;
  return `path ${path}`;
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize')
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'decoders', version: '1' } } });
  if (method === 'tools/list') return send({ id, result: { tools } });
  if (method === 'tools/call')
    return send({ id, result: { content: [{ type: 'text', text: understood(params.name, params.arguments ?? {}) }] } });
  send({ id, error: { code: -32601, message: 'Method not found' } });
});
