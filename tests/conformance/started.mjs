// A program that says on its first line of output, as JSON, where it listens.
import { spawn } from 'node:child_process';

export async function start(program, words, options = {}) {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'], ...options });
  const ended = new Promise((done) => child.on('close', done));
  const first = await new Promise((done, failed) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      output += piece;
      if (output.includes('\n')) done(JSON.parse(output.slice(0, output.indexOf('\n'))));
    });
    ended.then((code) => failed(new Error(`${program} ended with ${code} before it listened`)));
  });
  return { first, child, ended };
}
