// Outcomes of WebAssembly are byte for byte those of the program.
//
// LISA is the program, default target/release/lisa; WASM the WebAssembly of crates/explore.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { instantiate } from "../src/simulator.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const lisa = process.env.LISA ?? join(root, "target/release/lisa");
const wasm = process.env.WASM ?? join(root, "target/wasm32-unknown-unknown/release/lisa_explore.wasm");
const skip = [lisa, wasm].filter((file) => !existsSync(file)).map((file) => `${file} is missing`)[0];
const answer = skip ? undefined : await instantiate(await WebAssembly.compile(readFileSync(wasm)));

/** Scenarios, each with keys that make a long one short. */
const folder = (name) => readdirSync(join(root, name)).filter((file) => file.endsWith(".toml")).map((file) => [`${name}/${file}`]);
const SCENARIOS = [
  ...folder("experiments/examples"),
  ...folder("experiments/lisa"),
  ...folder("crates/lisa/presets"),
  ["experiments/css/fig5.toml"],
  ["experiments/css/fig6.toml"],
  ["experiments/start/shared-acks.toml"],
  ["experiments/start/separate-web.toml"],
  ["experiments/rfc9743/failover.toml"],
  ["experiments/lia-olia/scenario-a.toml", ["stop = \"140s\"", "stop = \"30s\""]],
  ["experiments/lia-olia/scenario-c.toml", ["stop = \"140s\"", "stop = \"30s\""]],
  ["experiments/lia-olia/flappiness.toml", ["warmup = \"40s\"", "warmup = \"5s\""], ["stop = \"60s\"", "stop = \"15s\""]],
  ["experiments/nmcc/fig9.toml", ["stop = \"300s\"", "stop = \"20s\""], ["warmup = \"240s\"", "warmup = \"5s\""]],
  ["experiments/detection/shared-web.toml"],
];

/** Files that a scenario names, by the path under which the program reads them. */
function beside(file, text) {
  const names = [...text.replace(/^\s*#.*$/gm, "").matchAll(/\b(?:file|trace|cdf)\s*=\s*"([^"]+)"/g)].map((match) => match[1]);
  const paths = names.map((name) => `${dirname(file)}/${name}`);
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

const run = (file, text, seed, more = {}) => answer(JSON.stringify({ do: "outcome", file, text, seed, files: beside(file, text), ...more }));

function program(file, text, seed) {
  // From standard input a scenario has no folder.
  const isChanged = text !== readFileSync(join(root, file), "utf8");
  const name = isChanged ? "-" : file;
  return spawnSync(lisa, ["run", name, "--json", "--seed", String(seed)], { cwd: root, input: text, encoding: "utf8", maxBuffer: 1 << 28 });
}

for (const [file, ...changes] of SCENARIOS) {
  test(`${file} has the outcome of the program`, { skip }, () => {
    const text = changes.reduce((text, [from, to]) => {
      assert.ok(text.includes(from), from);
      return text.replace(from, to);
    }, readFileSync(join(root, file), "utf8"));
    for (const seed of [1, 7]) {
      const { stdout, stderr, status } = program(file, text, seed);
      assert.equal(status, 0, stderr);
      assert.equal(run(file, text, seed) + "\n", stdout, `seed ${seed}`);
    }
  });
}

test("errors are the lines of the program", { skip }, () => {
  const file = "experiments/examples/shared-bottleneck.toml";
  const text = readFileSync(join(root, file), "utf8");
  const wrong = [
    "",
    "a = = 2",
    text.replace("kind", "knd"),
    text.replace(/rate\s*=.*/, 'rate = "5Mbits"'),
    text.replace(/rate\s*=.*/, "rate = 5"),
    text.replace(/stop\s*=.*/, 'stop = "-1s"'),
    text.replace(/algorithm\s*=.*/, 'algorithm = "lisaa"'),
    text.replace(/subflows\s*=.*/, "subflows = 100000000000000000000"),
    text + "\n[[connection]]\nprotocol = \"quic\"\n",
    "\u0000",
    text.replace(/queue\s*=.*/, "queue = -1"),
    "x".repeat(100000),
    `x = ${"[".repeat(100000)}`,
    `x = ${"{a=".repeat(1000)}`,
  ];
  for (const text of wrong) {
    const { stderr, status } = spawnSync(lisa, ["run", "-", "--json"], { input: text, encoding: "utf8" });
    assert.equal(status, 1, text.slice(0, 100));
    // The program names standard input.
    const name = stderr.match(/^lisa: ([^:]*?):/)?.[1];
    const { error } = JSON.parse(run(name, text, 1));
    assert.equal(`lisa: ${error}\n`, stderr);
    assert.ok(!error.includes("\n"));
  }
});

test("a wrong request is an error", { skip }, () => {
  for (const request of ["", "{}", "[]", '{ "do": "fly" }', '{ "do": "run" }']) {
    assert.match(JSON.parse(answer(request)).error, /^the request: /);
  }
});

test("a run with records has the outcome of a run without", { skip }, () => {
  const file = "experiments/lisa/fig1.toml";
  const text = readFileSync(join(root, file), "utf8");
  for (const algorithm of ["lia", "lisa", "css", "convoy", "cubic"]) {
    const request = { file, text, seed: 3, algorithm };
    const records = JSON.parse(answer(JSON.stringify({ do: "run", ...request })));
    assert.deepEqual(records.outcome, JSON.parse(run(file, text, 3, { algorithm })));
    const { segments, subflows, reasons, outcome } = records;
    const { retransmits } = outcome.connections[0];
    assert.equal(segments.again.filter(Boolean).length, retransmits);
    assert.equal(segments.lost.filter(Boolean).length, subflows.reduce((sum, { losses }) => sum + losses.length, 0));
    assert.equal(reasons.filter(({ kind }) => kind === "credit").length, outcome.connections[0].credits_taken);
    const reductions = reasons.filter(({ kind }) => kind === "reduction").length;
    assert.ok(reductions >= 1, algorithm);
    for (let i = 0; i < segments.sent.length; i++) {
      assert.ok(segments.sent[i] <= segments.enters[i] + 1e-9);
      if (segments.leaves[i] !== null) assert.ok(segments.enters[i] <= segments.leaves[i] + 1e-9);
    }
  }
});

test("CSS and LISA have their reasons", { skip }, () => {
  const reasons = (file, algorithm) => {
    const text = readFileSync(join(root, file), "utf8");
    return JSON.parse(answer(JSON.stringify({ do: "run", file, text, seed: 1, algorithm }))).reasons.map(({ text }) => text).join("\n");
  };
  assert.match(reasons("experiments/css/fig6.toml", "css"), /short, subflow 1 leaves slow start .* reached con_ssthresh/);
  const lisa = reasons("experiments/lisa/fig1.toml", "lisa");
  assert.match(lisa, /subflow 2 joins with a credit of 10 segments from subflow 1/);
  assert.match(lisa, /subflow 1 settles the credit of subflow 2: its window becomes smaller by 10 segments/);
  assert.match(lisa, /subflow 1 reduces its window .*: the network lost \d+ segments/);
});

test("a run can end long before its stop", { skip }, () => {
  const file = "experiments/lisa/fig1.toml";
  const text = readFileSync(join(root, file), "utf8");
  const records = (text) => JSON.parse(answer(JSON.stringify({ do: "run", file, text, seed: 1, algorithm: "lisa" })));
  const late = records(text.replace('stop = "30s"', 'stop = "1000h"'));
  assert.deepEqual(late, records(text));
});

test("no change of a text stops the simulator", { skip }, () => {
  const file = "experiments/lisa/fig11.toml";
  const text = readFileSync(join(root, file), "utf8").replace(/^#.*\n/gm, "");
  // A linear congruential generator (Numerical Recipes), so that each run has the same texts.
  let state = 1;
  const below = (n) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0), Math.floor((state / 2 ** 32) * n));
  const pieces = ["0", "9", "99999999", "-", '"', "[", "]", "{", "}", "=", ".", "ns", "Gbit", "\n", "é", "\u0000", "1e400", "nan", "true"];
  let [runs, errors] = [0, 0];
  for (let i = 0; i < 300; i++) {
    let changed = text;
    if (i % 2) {
      const digits = [...text.matchAll(/\d/g)].map(({ index }) => index);
      const at = digits[below(digits.length)];
      changed = text.slice(0, at) + below(10) + text.slice(at + 1);
    } else {
      const at = below(text.length);
      changed = text.slice(0, at) + pieces[below(pieces.length)] + text.slice(at + below(4));
    }
    const result = JSON.parse(answer(JSON.stringify({ do: "run", file, text: changed, seed: 1, algorithm: "lisa" })));
    if (result.error === undefined) runs += 1;
    else {
      errors += 1;
      assert.ok(!result.error.includes("\n"), result.error);
    }
  }
  assert.ok(runs > 20 && errors > 20, `${runs} runs, ${errors} errors`);
});
