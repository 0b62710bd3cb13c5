// A forward proxy as companies have them: CONNECT and whole URLs (RFC 9110, section 9.3.6; RFC 9112, section 3.2.2), with a login
// where one is asked for. Every host is PORT on 127.0.0.1, so that names need not be known to anybody. Prints "port N".
//
//   node proxy.mjs --to PORT [--login USER:PASSWORD] [--refuse STATUS]
//
// GET /log: what was asked of it so far, as JSON: method, url, the login that came, and names of headers.
import { createServer, request as ask } from 'node:http';
import { connect } from 'node:net';

const option = (name) => { const at = process.argv.indexOf(name); return at < 0 ? undefined : process.argv[at + 1]; };
const to = Number(option('--to'));
const login = option('--login');
const refuse = option('--refuse');
const log = [];

const refusal = (request) => {
  log.push({ method: request.method, url: request.url, login: request.headers['proxy-authorization'] ?? null,
    headers: Object.keys(request.headers) });
  if (refuse) return [Number(refuse), {}];
  const wanted = login && `Basic ${Buffer.from(login).toString('base64')}`;
  if (wanted && request.headers['proxy-authorization'] !== wanted) return [407, { 'Proxy-Authenticate': 'Basic realm="proxy"' }];
  return undefined;
};

const server = createServer((request, response) => {
  if (request.url === '/log') return response.end(JSON.stringify(log));
  const no = refusal(request);
  if (no) return response.writeHead(...no).end('no');
  const url = new URL(request.url);
  const headers = { ...request.headers };
  delete headers['proxy-authorization'];
  const onward = ask({ host: '127.0.0.1', port: to, method: request.method, path: url.pathname + url.search, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
});
server.on('connect', (request, socket, head) => {
  const no = refusal(request);
  if (no) {
    const lines = Object.entries(no[1]).map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return socket.end(`HTTP/1.1 ${no[0]} No\r\n${lines}Content-Length: 2\r\n\r\nno`);
  }
  const onward = connect(to, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) onward.write(head);
    onward.pipe(socket);
    socket.pipe(onward);
  });
  for (const one of [socket, onward]) one.on('error', () => { socket.destroy(); onward.destroy(); });
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
