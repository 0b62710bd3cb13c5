// tokens.mjs: how many tokens a model reads, as mcpac prompt against the plain tools/list JSON.
//
//   node bench/tokens.mjs [--bin build/release/bin] [LISTINGS]
//
// Method: the tokenizer is o200k_base (gpt-tokenizer, pinned in bench/tokens). The JSON side is the
// compact text of {"tools": [...]} of every server, as it goes over the wire; the mcpac side is what
// `mcpac prompt` prints, made from the same listings by bin/prompt_texts. LISTINGS: the corpus beside
// the source tree where there is one, else tests/codegen/data. Files _*.json are made by hand and
// not counted. Ten tools: ten everyday ones by name, and 2,000 random choices (a fixed seed) to show
// the spread.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(join(root, "bench/tokens/package.json"));
const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");

const EVERYDAY = [
  "filesystem.read_text_file", "filesystem.write_file", "filesystem.list_directory", "filesystem.search_files",
  "github-go.create_issue", "github-go.list_issues", "github-go.create_pull_request", "github-go.get_file_contents",
  "memory.create_entities", "memory.search_nodes",
];

function options(words) {
  const found = { bin: join(root, "build/release/bin"), listings: "" };
  for (let i = 0; i < words.length; ++i) {
    if (words[i] === "--bin") found.bin = words[++i];
    else found.listings = words[i];
  }
  const corpus = join(root, "../shared/corpus/tools");
  found.listings ||= existsSync(corpus) ? corpus : join(root, "tests/codegen/data");
  return found;
}

function listings(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json") && !name.startsWith("_")).sort();
  return names.map((name) => ({
    server: name.slice(0, -5),
    tools: JSON.parse(readFileSync(join(folder, name), "utf8")).tools,
  }));
}

// Text that looks like a special token is text, on both sides.
const tokens = (text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });

// mulberry32: small, and the same everywhere
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

function main() {
  const { bin, listings: folder } = options(process.argv.slice(2));
  const servers = listings(folder);
  const out = mkdtempSync(join(tmpdir(), "mcpac-tokens-"));
  try {
    execFileSync(join(bin, "prompt_texts"), [folder, out], { stdio: "inherit" });
    const text = (name) => readFileSync(join(out, name), "utf8");
    const json = servers.reduce((sum, { tools }) => sum + tokens(JSON.stringify({ tools })), 0);
    const count = servers.reduce((sum, { tools }) => sum + tools.length, 0);
    console.log(`${servers.length} servers, ${count} tools; tools/list JSON: ${json} tokens`);
    for (const name of ["names", "digest", "signatures"]) {
      const size = tokens(text(`${name}.txt`));
      console.log(`${name.padEnd(11)} ${String(size).padStart(8)} tokens  ${percent(size, json)} of the JSON`);
    }
    console.log(`the rules ${tokens(text("rules.txt"))} tokens, once a prompt`);

    const lines = JSON.parse(text("tools.json"));
    const definitions = Object.fromEntries(
      servers.flatMap(({ server, tools }) => tools.map((tool) => [`${server}.${tool.name}`, tool])));
    const signatures = (names) => tokens(names.map((name) => lines[name]).join(""));
    const known = EVERYDAY.filter((name) => lines[name]);
    if (known.length === EVERYDAY.length) {
      const plain = tokens(JSON.stringify({ tools: known.map((name) => definitions[name]) }));
      console.log(`ten everyday tools: signatures ${signatures(known)} tokens, JSON ${plain}: ${percent(signatures(known), plain)}`);
    }
    const names = Object.keys(lines).sort();
    const next = random(1);
    const sums = Array.from({ length: 2000 }, () =>
      signatures(Array.from({ length: 10 }, () => names[Math.floor(next() * names.length)]))).sort((a, b) => a - b);
    const fits = sums.filter((sum) => sum <= 1500).length;
    console.log(`ten random tools: signatures median ${at(sums, 0.5)}, p90 ${at(sums, 0.9)}, p99 ${at(sums, 0.99)}, `
      + `max ${at(sums, 1)} tokens; ${percent(fits, sums.length)} of the choices fit in 1,500`);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

main();
