// A registry of npm packages: those in FOLDER, as they lie there when they are asked for. Prints "port N".
//
//   node registry.mjs FOLDER        FOLDER/NAME@VERSION/package/package.json, "+" for the "/" of a scope
//
// Tarballs are made when the packages are listed, since their digests stand in the list.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const folder = process.argv[2];
const tarballs = new Map();

const versionsOf = (name, host) => {
  const versions = {};
  for (const entry of readdirSync(folder).sort()) {
    const at = entry.lastIndexOf('@');
    if (entry.slice(0, at).replace('+', '/') !== name) continue;
    const manifest = JSON.parse(readFileSync(join(folder, entry, 'package/package.json'), 'utf8'));
    const path = `/tarballs/${entry}.tgz`;
    if (!tarballs.has(path))
      tarballs.set(path, execFileSync('tar', ['-C', join(folder, entry), '-cz', 'package'], { maxBuffer: 1 << 26 }));
    const shasum = createHash('sha1').update(tarballs.get(path)).digest('hex');
    const hasInstallScript = Boolean(manifest.scripts?.postinstall);
    versions[manifest.version] = { ...manifest, hasInstallScript, dist: { tarball: `http://${host}${path}`, shasum } };
  }
  return versions;
};

const server = createServer((request, response) => {
  if (tarballs.has(request.url)) return response.end(tarballs.get(request.url));
  const name = decodeURIComponent(request.url.slice(1));
  const versions = versionsOf(name, request.headers.host);
  const latest = Object.keys(versions).at(-1);
  if (!latest) return response.writeHead(404, { 'content-type': 'application/json' }).end('{"error": "not found"}');
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ name, versions, 'dist-tags': { latest } }));
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
