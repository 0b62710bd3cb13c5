// `mcpac serve --http` before a server, in a project of its own that goes at the end.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { start } from './started.mjs';

// The suite sends no token, and mcpac lets nobody in without one: this adds it, and nothing else. A Host or Origin that
// means this door means mcpac's behind it; any other is passed on as it came, since it is what some scenario is about.
async function open_door(behind, token) {
  const target = new URL(behind);
  const server = createServer((incoming, outgoing) => {
    const own = `127.0.0.1:${server.address().port}`;
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    if (headers.host === own) headers.host = target.host;
    if (headers.origin === `http://${own}`) headers.origin = target.origin;
    const { method, url: path } = incoming;
    const onward = send({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

// Which era mcpac speaks with the fixture: of the SDK behind it a tool asks and logs in the era that it was written for, so a
// leg of the older revision needs a connection of that era. Without it mcpac would speak the newest that both know.
const ERA_OF = { '2025-11-25': 'initialize', '2026-07-28': '2026-07-28' };

export async function start_proxy(mcpac, url, revision) {
  const folder = mkdtempSync(join(tmpdir(), 'mcpac-conformance-'));
  const env = { ...process.env };
  for (const [name, place] of [['STATE', 'state'], ['CACHE', 'cache'], ['CONFIG', 'config']]) {
    env[`XDG_${name}_HOME`] = join(folder, place);
  }
  delete env.XDG_RUNTIME_DIR;
  writeFileSync(join(folder, 'mcpac.json'), JSON.stringify({ mcpServers: { fixture: { url, era: ERA_OF[revision] } } }));
  const generated = spawnSync(mcpac, ['generate'], { cwd: folder, env, encoding: 'utf8' });
  if (generated.status !== 0) throw new Error(`mcpac generate: ${generated.stderr}`);
  const words = ['serve', '--http', '127.0.0.1:0', '--names', 'bare', '--grant', 'fixture.*'];
  const { first, child, ended } = await start(mcpac, words, { cwd: folder, env });
  const door = await open_door(first.http, first.token);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    door.closeAllConnections();
    door.close();
    rmSync(folder, { recursive: true });
  };
  return { url: `http://127.0.0.1:${door.address().port}/mcp`, stop };
}
