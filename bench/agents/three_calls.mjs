// The TypeScript SDK's way to an agent with three tool calls: a program that node runs as it is, with all rights of its
// user. For bench/compare_agents.py:  node three_calls.mjs NODE_MODULES SERVER FOLDER
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [modules, server, folder] = process.argv.slice(2);
const sdk = (file) => import(pathToFileURL(join(modules, '@modelcontextprotocol/sdk/dist/esm/client', file)).href);
const { Client } = await sdk('index.js');
const { StdioClientTransport } = await sdk('stdio.js');

const client = new Client({ name: 'three-calls', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: 'node', args: [server, folder], cwd: folder, stderr: 'ignore' }));
const call = async (name, path) => (await client.callTool({ name, arguments: { path } })).content[0].text;
await call('list_directory', 'data');
const a = await call('read_text_file', 'data/a.txt');
const b = await call('read_text_file', 'data/b.txt');
console.log(a.length + b.length);
await client.close();
