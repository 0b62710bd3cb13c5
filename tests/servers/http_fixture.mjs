// An MCP server over Streamable HTTP that does what well-behaved ones do not. Plain node, no
// dependencies. Prints "port N" when it listens on 127.0.0.1.
//
//   node http_fixture.mjs [initialize|stateless|both] [--key FILE --cert FILE]
//
// Paths choose the form of answers: /json, /sse, /resume (the stream breaks before the answer and is
// resumed by GET), /broken (it breaks for good), /loses-session (404 on the second call), /redirect,
// /unauthorized, /html, /endless (an event without end), /informs (1xx before the answer), /ends-listening (what announcements come on ends five or
// three times, and is refused once), /forgets-events?STATUS (that ends once, numbered, and is not taken up again), /log
// (what was asked so far, as JSON).
// The header Authorization is kept and can be read with the tool "headers". The tool "cut" ends the streams of announcements;
// `lists` says how the next lists of tools are answered ("503": an HTTP status; "error"; "503 cut", "error cut": and the streams end once
// more; "other": this once with another tool, and news of a change before), and with `changes` a tool is another one from then on.
// "forget" forgets all sessions, as a server that was restarted; `status` is what they are answered with from then on, `changes` as above;
// with `calls` so many calls behind it are answered so, each forgetting its session.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

const mode = process.argv[2] ?? 'initialize';
const option = (name) => { const at = process.argv.indexOf(name); return at < 0 ? undefined : process.argv[at + 1]; };
const STATELESS = '2026-07-28';
const sessions = new Map(); // id → {calls, listener}
const held = new Map(); // event id → message
const log = [];
let next = 1;
let ended = 0; // streams of announcements
let lists = []; // how the next ones are answered
let unknown = 404; // how a session that is none is answered
let forgetting = 0; // calls that forget their session

const info = { name: 'http-fixture', version: '4.5.6' };
const tools = ['echo', 'headers', 'slow', 'change', 'progress', 'big'].map((name) => ({ name, inputSchema: { type: 'object' } }));
tools.push({ name: 'naïve näme', inputSchema: { type: 'object' } });
const text = (value) => ({ content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }] });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const encode = (message) => JSON.stringify({ jsonrpc: '2.0', ...message });

const cut = () => { for (const session of sessions.values()) session.end?.(); };

async function answer(message, request, notify) {
  const { id, method, params } = message;
  const modern = request.headers['mcp-protocol-version'] === STATELESS;
  const result = (value) => ({ id, result: modern ? { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': info }, ...value } : value });
  if (method === 'server/discover') {
    return result({ supportedVersions: [STATELESS], capabilities: { tools: { listChanged: true } }, ttlMs: 0, cacheScope: 'private' });
  }
  if (method === 'initialize') {
    return result({ protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: info });
  }
  if (method === 'tools/list') return result({ tools });
  if (method === 'tools/call') {
    const args = params.arguments ?? {};
    if (params.name === 'headers') return result(text(request.headers));
    if (params.name === 'big') return result(text('x'.repeat(args.bytes)));
    if (params.name === 'asks' && !params.inputResponses) {
      return { id, result: { resultType: 'input_required', inputRequests: { sure: { method: 'elicitation/create', params: {
        message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } } } } };
    }
    if (params.name === 'fail') return result({ ...text(args.text), isError: true });
    if (params.name === 'slow') { await sleep(args.ms); return result(text('slept')); }
    if (params.name === 'progress') {
      for (let i = 1; i <= args.times; ++i) {
        await sleep(args.every);
        notify?.({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: i } });
      }
      return result(text('arrived'));
    }
    if (params.name === 'cut') {
      // The stream opens beside the calls.
      while (![...sessions.values()].some((session) => session.end)) await sleep(5);
      lists = args.lists ?? [];
      if (args.changes) tools[0].description = 'another one';
      cut();
      return result(text('cut'));
    }
    if (params.name === 'forget') {
      unknown = args.status;
      if (args.changes) tools[0].description = 'another one';
      if (args.cuts) cut();
      forgetting = args.calls ?? 0;
      sessions.clear();
      return result(text('forgotten'));
    }
    if (params.name === 'change') {
      for (const session of sessions.values()) session.listener?.({ method: 'notifications/tools/list_changed' });
      return result(text('changed'));
    }
    return result(text({ tool: params.name, arguments: args }));
  }
  return { id, error: { code: -32601, message: 'Method not found' } };
}

const stream = (response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' });
  response.flushHeaders();
  return (message, event) => response.write(`${event ? `id: ${event}\n` : ''}event: message\ndata: ${encode(message)}\n\n`);
};
const refuse = (response, status, reason, id = null, code = -32000) => {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(encode({ id, error: { code, message: reason } }));
};

async function handlePost(request, response, path, message) {
  const { id, method } = message;
  const version = request.headers['mcp-protocol-version'];
  const modern = version === STATELESS;
  log.push({ method, version: version ?? null, session: request.headers['mcp-session-id'] ?? null,
    mcpMethod: request.headers['mcp-method'] ?? null, mcpName: request.headers['mcp-name'] ?? null });
  if (modern && mode === 'initialize') return refuse(response, 400, `Unsupported protocol version ${version}`);
  if (modern && request.headers['mcp-method'] !== method) return refuse(response, 400, 'header mismatch', id, -32020);
  if (!modern && mode === 'stateless') return refuse(response, 400, 'this server is stateless', id ?? null, -32022);
  const headers = {};
  if (method === 'initialize') {
    const session = `session-${next++}`;
    sessions.set(session, { calls: 0 });
    headers['Mcp-Session-Id'] = session;
  } else if (!modern) {
    const session = sessions.get(request.headers['mcp-session-id']);
    if (!session) return refuse(response, unknown, unknown === 404 ? 'Session not found' : 'no');
    if (method === 'tools/call' && forgetting > 0 && forgetting--) {
      sessions.delete(request.headers['mcp-session-id']);
      return refuse(response, unknown, 'no');
    }
    if (path === '/loses-session' && method === 'tools/call' && ++session.calls > 1) {
      sessions.delete(request.headers['mcp-session-id']);
      return refuse(response, 404, 'Session not found');
    }
  }
  if (method === 'tools/list' && lists.length > 0) {
    const how = lists.shift();
    if (how.endsWith('cut')) cut();
    if (how === 'other') {
      for (const session of sessions.values()) session.listener?.({ method: 'notifications/tools/list_changed' });
      await sleep(50); // the news is there first
      response.writeHead(200, { 'Content-Type': 'application/json' });
      return response.end(encode({ id, result: { tools: [{ ...tools[0], description: 'another one' }] } }));
    }
    return how.startsWith('error') ? refuse(response, 200, 'no', id) : refuse(response, parseInt(how), 'busy');
  }
  if (path === '/asks-on' && method === undefined) return; // takes no answer to what it asks itself
  if (id === undefined) return response.writeHead(202).end();
  if (method === 'subscriptions/listen') {
    const write = stream(response);
    if (path === '/ends-listening' && ++ended <= 3) {
      write({ id, result: { resultType: 'complete' } });
      return response.end();
    }
    write({ method: 'notifications/subscriptions/acknowledged', params: { notifications: message.params.notifications } });
    sessions.set(`listen-${id}`, { listener: write });
    return;
  }
  // Informational responses before the answer, as many as asked for.
  if (path === '/informs' && method === 'tools/call') {
    const { times, status } = message.params.arguments;
    request.socket.write(`HTTP/1.1 ${status} Information\r\nX-Hint: none\r\n\r\n`.repeat(times));
    await sleep(20); // they come by themselves
  }
  // Framing that is longer than any answer: what a client has to read before it has a byte of the body.
  if ((path === '/long-chunk-line' || path === '/long-trailer') && method === 'tools/call') {
    const body = Buffer.from(encode(await answer(message, request)));
    const padding = 'y'.repeat(1 << 20);
    const [line, trailer] = path === '/long-chunk-line' ? [`;y=${padding}`, ''] : ['', `Y: ${padding}\r\n`];
    request.socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
    return void request.socket.write(`${body.length.toString(16)}${line}\r\n${body}\r\n0\r\n${trailer}\r\n`);
  }
  // The beginning of an answer, and no end.
  const stalls = { '/stalls': 1 << 16, '/stalls-at-once': 0 };
  if (path in stalls && message.params?.name === 'slow') {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    return void response.write(' '.repeat(stalls[path]));
  }
  if (path === '/json' || path in stalls || path === '/loses-session' || method === 'initialize') {
    const body = encode(await answer(message, request));
    response.writeHead(200, { 'Content-Type': 'application/json', ...headers });
    return response.end(body);
  }
  const write = stream(response);
  if (path === '/endless' && method === 'tools/call') {
    response.write('data: ');
    const more = setInterval(() => response.writableNeedDrain || response.write('y'.repeat(1 << 20)), 1);
    return void response.on('close', () => clearInterval(more));
  }
  if ((path === '/resume' || path === '/broken') && method === 'tools/call') {
    const event = `event-${next++}`;
    held.set(event, await answer(message, request));
    response.write(path === '/resume' ? `retry: 20\nid: ${event}\ndata:\n\n` : ': nothing\n\n');
    return response.end();
  }
  if (path === '/asks-on' && method === 'tools/call') {
    for (let i = 0; i < message.params.arguments.times; ++i) write({ id: `own-${i}`, method: 'ping' });
  }
  const reply = await answer(message, request, write);
  write(reply);
  response.end();
}

async function handle(request, response) {
  const { pathname: path, search } = new URL(request.url, 'http://x');
  if (path === '/log') { response.setHeader('Content-Type', 'application/json'); return response.end(JSON.stringify(log)); }
  if (path === '/moves') return response.writeHead(307, { Location: '/json' }).end();
  if (path === '/moves-whole') return response.writeHead(308, { Location: `http://${request.headers.host}/moves` }).end();
  if (path === '/circle') return response.writeHead(307, { Location: `/circle?${next++}` }).end();
  if (path === '/busy') return response.writeHead(429, { 'Retry-After': '7' }).end('slow down');
  if (path === '/redirect') return response.writeHead(307, { Location: 'http://127.0.0.1:1/elsewhere' }).end();
  if (path === '/unauthorized') return refuse(response, 401, `no: ${request.headers.authorization ?? 'nothing'}`);
  if (path === '/html') return response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>hello</h1>');
  if (request.method === 'DELETE') {
    log.push({ method: 'DELETE', session: request.headers['mcp-session-id'] ?? null });
    sessions.delete(request.headers['mcp-session-id']);
    return response.writeHead(200).end();
  }
  if (request.method === 'GET') {
    const event = request.headers['last-event-id'];
    log.push({ method: 'GET', event: event ?? null });
    if (path === '/forgets-events' && ++ended === 2) return refuse(response, Number(search.slice(1)), 'no such event');
    if (event && path !== '/forgets-events') { const write = stream(response); write(held.get(event), `${event}-sent`); return response.end(); }
    const session = sessions.get(request.headers['mcp-session-id']);
    if (path === '/no-stream') return response.writeHead(404).end();
    if (!session) return response.writeHead(request.headers['mcp-session-id'] ? unknown : 405).end();
    if (path === '/ends-listening' && ++ended === 6) return refuse(response, 503, 'not now');
    const write = stream(response);
    if (path === '/ends-listening' && ended < 6) return response.end('retry: 20\n\n');
    if (path === '/forgets-events' && ended === 1) return response.end('retry: 20\nid: forgotten\ndata:\n\n');
    session.listener = write;
    session.end = () => response.end('retry: 20\n\n');
    return;
  }
  let body = '';
  for await (const piece of request) body += piece;
  await handlePost(request, response, path, JSON.parse(body));
}

const key = option('--key');
const server = key ? createTlsServer({ key: readFileSync(key), cert: readFileSync(option('--cert')) }, handle) : createServer(handle);
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${server.address().port}\n`));
process.stdin.on('end', () => process.exit(0)).resume();
