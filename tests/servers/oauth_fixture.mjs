// An MCP server that wants a login, and its authorization server, in one. Plain node, no
// dependencies. Prints "port N" when it listens on 127.0.0.1.
//
//   node oauth_fixture.mjs [FLAG…]
//
// Flags: iss=wrong|missing, state=wrong, deny (the person says no), stale (every access token is good
// for one call), rotate (refresh tokens are good once), no-pkce, issuer=wrong, resource=wrong,
// moves (documents answer with a redirect), basic (clients have secrets), page=asks (the address of the login page holds
// a redirect_uri of its own), method=key (clients are registered to prove themselves with a key), scopes=many (a token
// answer with 16 KiB of scopes), family (tokens come slowly, refresh tokens are good once, and one that comes twice ends
// the whole login), greedy (every call wants one scope more), two (the server lists another
// authorization server first), no-revocation, revocation=fails, slash (the issuer has a slash at its end in the metadata
// and the answers, and none elsewhere), redirect=localhost (no client is registered with another redirect), resource=none (the metadata
// name none), no-resource (a request that names a resource is refused), never (every token is refused by the server),
// refresh=refused, forgets (the authorization server forgets its clients when it has given tokens), device (logins by a
// code; the person says yes when the second question comes), device=refused (they are offered, and refused), device=denied,
// no-page (the metadata name no authorization endpoint).
// /mcp is the server; its tool "write" wants the scope "write" besides "read". /log: what was asked.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const flags = new Set(process.argv.slice(2));
const log = [];
const tokens = new Map(); // access token → {scope, uses}
const refreshes = new Map(); // refresh token → scope
const codes = new Map(); // code → {challenge, scope, redirect}
const clients = new Set();
const devices = new Map(); // device code → {scope, asked}
let number = 0;
let base;

const json = (response, status, value, headers = {}) => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
};

function give_tokens(scope) {
  const access = `secret-access-token-${++number}`;
  const refresh = `secret-refresh-token-${number}`;
  tokens.set(access, { scope, uses: flags.has('stale') ? 1 : 1e9 });
  refreshes.set(refresh, scope);
  const said = flags.has('scopes=many') ? 'scope '.repeat(3_000) : scope;
  return { access_token: access, refresh_token: refresh, token_type: 'bearer', scope: said, expires_in: 60 };
}

function authorize(response, query) {
  if (flags.has('no-resource') && query.has('resource')) return json(response, 400, { error: 'invalid_target' });
  if (query.get('code_challenge_method') !== 'S256') return json(response, 400, { error: 'invalid_request' });
  const code = `code-${++number}`;
  codes.set(code, { challenge: query.get('code_challenge'), scope: query.get('scope') ?? '', redirect: query.get('redirect_uri') });
  const to = new URL(query.get('redirect_uri'));
  if (flags.has('deny')) to.searchParams.set('error', 'access_denied');
  else to.searchParams.set('code', code);
  to.searchParams.set('state', flags.has('state=wrong') ? 'another' : query.get('state'));
  if (!flags.has('iss=missing')) to.searchParams.set('iss', flags.has('iss=wrong') ? 'https://evil.example' : `${base}/as${flags.has('slash') ? '/' : ''}`);
  response.writeHead(302, { Location: to.toString() }).end();
}

function token(response, form, authorization) {
  const grant = form.get('grant_type');
  if (flags.has('no-resource') && form.has('resource')) return json(response, 400, { error: 'invalid_target' });
  if (flags.has('forgets') && !clients.delete(form.get('client_id'))) return json(response, 401, { error: 'invalid_client' });
  if (grant === 'urn:ietf:params:oauth:grant-type:device_code') {
    const device = devices.get(form.get('device_code'));
    if (device === undefined) return json(response, 400, { error: 'expired_token' });
    if (++device.asked === 1) return json(response, 400, { error: 'authorization_pending' });
    if (flags.has('device=denied')) return json(response, 400, { error: 'access_denied' });
    devices.delete(form.get('device_code'));
    return json(response, 200, give_tokens(device.scope));
  }
  if (flags.has('basic') && !authorization?.startsWith('Basic ')) return json(response, 401, { error: 'invalid_client' });
  if (grant === 'client_credentials') return json(response, 200, give_tokens(form.get('scope') ?? ''));
  if (grant === 'refresh_token') {
    if (flags.has('refresh=refused')) return json(response, 400, { error: 'invalid_grant' });
    const scope = refreshes.get(form.get('refresh_token'));
    if (scope === undefined && flags.has('family')) {
      tokens.clear();
      refreshes.clear();
    }
    if (scope === undefined) return json(response, 400, { error: 'invalid_grant' });
    if (flags.has('rotate') || flags.has('family')) refreshes.delete(form.get('refresh_token'));
    return json(response, 200, give_tokens(scope));
  }
  const code = codes.get(form.get('code'));
  const proof = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
  const fits = code !== undefined && code.challenge === proof && code.redirect === form.get('redirect_uri');
  codes.delete(form.get('code'));
  return fits ? json(response, 200, give_tokens(code.scope)) : json(response, 400, { error: 'invalid_grant' });
}

const device_is_offered = [...flags].some((flag) => flag.startsWith('device'));

function device(response, form) {
  if (flags.has('device=refused')) return json(response, 400, { error: 'unauthorized_client' });
  const code = `secret-device-code-${++number}`;
  devices.set(code, { scope: form.get('scope') ?? '', asked: 0 });
  json(response, 200, { device_code: code, user_code: 'WDJB-MJHT', verification_uri: `${base}/activate`, interval: 1, expires_in: 60 });
}

// As RFC 7009 has it: what is not known is as good as revoked.
function revoke(response, form, authorization) {
  if (flags.has('basic') && !authorization?.startsWith('Basic ')) return json(response, 401, { error: 'invalid_client' });
  if (flags.has('revocation=fails')) return json(response, 503, { error: 'secret-reason' });
  tokens.delete(form.get('token'));
  refreshes.delete(form.get('token'));
  response.writeHead(200).end();
}

function metadata() {
  return {
    issuer: flags.has('issuer=wrong') ? 'https://evil.example' : `${base}/as${flags.has('slash') ? '/' : ''}`,
    ...(device_is_offered && { device_authorization_endpoint: `${base}/device` }),
    ...(!flags.has('no-page') && { authorization_endpoint: `${base}/authorize${flags.has('page=asks') ? '?redirect_uri=https://evil.example' : ''}` }),
    token_endpoint: `${base}/token`, registration_endpoint: `${base}/register`,
    token_endpoint_auth_methods_supported: [flags.has('basic') ? 'client_secret_basic' : 'none'],
    ...(!flags.has('no-revocation') && { revocation_endpoint: `${base}/revoke` }),
    ...(!flags.has('no-pkce') && { code_challenge_methods_supported: ['S256'] }),
    authorization_response_iss_parameter_supported: true, scopes_supported: ['read', 'write', 'offline_access'],
  };
}

function challenge(response, status, words) {
  const place = `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
  json(response, status, { error: 'no' }, { 'WWW-Authenticate': `Bearer ${words}, ${place}` });
}

function mcp(response, message, authorization) {
  const held = tokens.get(authorization?.replace(/^Bearer /, ''));
  if (held === undefined || held.uses-- <= 0 || flags.has('never')) return challenge(response, 401, 'scope="read"');
  const { id, method, params } = message;
  const result = (value) => json(response, 200, { jsonrpc: '2.0', id, result: value });
  if (id === undefined) return response.writeHead(202).end();
  if (method === 'initialize') {
    return result({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'oauth-fixture', version: '1' } });
  }
  if (method === 'tools/list') return result({ tools: ['read', 'write'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (method !== 'tools/call') return json(response, 200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
  if (flags.has('greedy')) return challenge(response, 403, `error="insufficient_scope", scope="more-${++number}"`);
  if (!held.scope.split(' ').includes(params.name)) return challenge(response, 403, `error="insufficient_scope", scope="${params.name}"`);
  // The server repeats the token that it got: nothing of it may be seen behind mcpac.
  return result({ content: [{ type: 'text', text: `${params.name} with ${authorization}` }] });
}

async function body_of(request) {
  let words = '';
  for await (const piece of request) words += piece;
  return words;
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, base);
  const body = await body_of(request);
  const { authorization } = request.headers;
  if (url.pathname === '/log') return json(response, 200, log);
  log.push({ path: url.pathname, method: request.method, body, query: url.search, authorization: authorization ?? '' });
  if (url.pathname.startsWith('/.well-known/')) {
    if (flags.has('moves')) return response.writeHead(302, { Location: `${base}/elsewhere` }).end();
    if (url.pathname === '/.well-known/oauth-protected-resource/mcp') {
      const resource = flags.has('resource=wrong') ? 'https://evil.example/mcp' : `${base}/mcp`;
      return json(response, 200, { ...(!flags.has('resource=none') && { resource }), authorization_servers: [...(flags.has('two') ? ['https://first.example'] : []), `${base}/as`] });
    }
    if (url.pathname === '/.well-known/oauth-authorization-server/as') return json(response, 200, metadata());
    return json(response, 404, {});
  }
  if (url.pathname === '/authorize') return authorize(response, url.searchParams);
  if (url.pathname === '/token' && flags.has('family')) await new Promise((done) => setTimeout(done, 300));
  if (url.pathname === '/token') return token(response, new URLSearchParams(body), authorization);
  if (url.pathname === '/device') return device(response, new URLSearchParams(body));
  if (url.pathname === '/revoke') return revoke(response, new URLSearchParams(body), authorization);
  if (url.pathname === '/register') {
    const secret = flags.has('basic') ? { client_secret: 'secret-of-the-client' } : {};
    const method = flags.has('method=key') ? { token_endpoint_auth_method: 'private_key_jwt' } : {};
    if (flags.has('redirect=localhost') && !JSON.parse(body).redirect_uris?.every((uri) => uri.startsWith('http://localhost:')))
      return json(response, 400, { error: 'invalid_redirect_uri' });
    clients.add(`client-${++number}`);
    return json(response, 201, { client_id: `client-${number}`, ...secret, ...method });
  }
  if (url.pathname === '/mcp' && request.method === 'POST') return mcp(response, JSON.parse(body), authorization);
  return json(response, 405, {});
});
server.listen(0, '127.0.0.1', () => {
  base = `http://127.0.0.1:${server.address().port}`;
  console.log(`port ${server.address().port}`);
});
process.stdin.on('end', () => process.exit(0)).resume();
