// An MCP server over stdio that decodes arguments as those of other languages do. Plain node, no dependencies.
//
//   read  as Go's encoding/json: a name is taken in any case (Unicode simple folding), and the last one wins.
//   act   as zod and pydantic: what an optional object leaves out is filled in by its default.
//   open  as the official Python SDK and many tools: a text that holds a JSON list or object is decoded, and of what is
//         then a place white space and quotes are taken off.
//   pick  as every JavaScript program: a number is a double.
//   each  as tools that take a list in a text: what stands between commas is a place, or a host, of its own.
//   copy  as JavaScript that copies what it was sent: a member "__proto__" gives the copy the members that it lacks.
//
// All answer what they understood.
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
  { name: 'open', inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } },
  {
    name: 'each',
    inputSchema: { type: 'object', properties: { paths: { type: 'string' }, urls: { type: 'string' } } },
  },
  { name: 'copy', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } },
  { name: 'pick', inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
];

const folded = (name) => name.toLowerCase().replaceAll('\u017f', 's').replaceAll('\u212a', 'k');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

function places(value) {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(places);
  try {
    const inner = JSON.parse(value);
    if (typeof inner === 'object' && inner !== null) return places(inner);
  } catch {}
  return [String(value).replace(/^[\s\u200b'"<]+|[\s\u200b'">]+$/gu, '')];
}

function understood(name, args) {
  if (name === 'open') return `opens ${places(args.path).join(', ')}`;
  if (name === 'each') return `opens ${(args.paths ?? args.urls).split(/[,;|，；]/u).flatMap(places).join(' and ')}`;
  if (name === 'copy') return `path ${Object.assign({}, args).path}`;
  if (name === 'pick') return `picks ${args.id}`;
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
