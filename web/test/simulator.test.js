// Errors and records of WebAssembly. That its outcomes are those of the program is tested with those of Python (python/tests/test_identity.py).
//
// LISA is the program, default target/release/lisa; WASM the WebAssembly of crates/explore.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { instantiate } from "../src/simulator.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const lisa = process.env.LISA ?? join(root, "target/release/lisa");
const wasm = process.env.WASM ?? join(root, "target/wasm32-unknown-unknown/release/lisa_explore.wasm");
const skip = [lisa, wasm].filter((file) => !existsSync(file)).map((file) => `${file} is missing`)[0];
const answer = skip ? undefined : await instantiate(await WebAssembly.compile(readFileSync(wasm)));

const run = (file, text, seed, more = {}) => answer(JSON.stringify({ do: "outcome", file, text, seed, ...more }));

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
