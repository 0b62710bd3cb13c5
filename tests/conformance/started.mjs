// A program that says on its first line of output, as JSON, under which "url" it listens, and ends with its input.
import { spawn } from 'node:child_process';

export async function start(program, words, options = {}) {
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'], ...options });
  const ended = new Promise((done) => child.on('close', done));
  const url = await new Promise((done, failed) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      output += piece;
      const line = output.slice(0, output.indexOf('\n') + 1);
      if (line !== '') done(JSON.parse(line).url);
    });
    ended.then((code) => failed(new Error(`${program} ended with ${code} before it listened`)));
  });
  const stop = () => {
    child.stdin.end();
    return ended;
  };
  return { url, stop, child };
}
