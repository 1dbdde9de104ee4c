// No input stops the simulator of the page: changed scenarios and changed requests are answered, by an outcome or by an error of one line.
//
// TEXTS is the number of changed texts, default 300; `TEXTS=100000 node --test test/fuzz.test.js` takes some minutes. WASM is the
// WebAssembly of crates/explore.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { instantiate } from "../src/simulator.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const wasm = process.env.WASM ?? join(root, "target/wasm32-unknown-unknown/release/lisa_explore.wasm");
const skip = existsSync(wasm) ? undefined : `${wasm} is missing`;
const TEXTS = Number(process.env.TEXTS ?? 300);
const FILES = [
  "experiments/lisa/fig11.toml",
  "experiments/lisa/fig1.toml",
  "experiments/css/fig6.toml",
  "experiments/start/separate-web.toml",
  "experiments/start/shared-acks.toml",
  "crates/lisa/presets/home-two-lines.toml",
];
const PIECES = ["0", "9", "99999999", "-", '"', "[", "]", "{", "}", "=", ".", "ns", "Gbit", "\n", "é", "\u0000", "1e400", "nan", "true", "[[connection]]\n", "..", "%"];

/** A generator of numbers below n; a linear congruential one (Numerical Recipes), so that each run has the same texts. */
function generator(state) {
  return (n) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0), Math.floor((state / 2 ** 32) * n));
}

/** The text with a changed digit, or with a piece in place of up to three characters. */
function changed(text, below, digits) {
  if (digits) {
    const all = [...text.matchAll(/\d/g)].map(({ index }) => index);
    const at = all[below(all.length)];
    return text.slice(0, at) + below(10) + text.slice(at + 1);
  }
  const at = below(text.length);
  return text.slice(0, at) + PIECES[below(PIECES.length)] + text.slice(at + below(4));
}

test("changed scenarios", { skip }, async () => {
  const answer = await instantiate(await WebAssembly.compile(readFileSync(wasm)));
  const below = generator(1);
  // Short runs: the texts are what differs.
  const texts = FILES.map((file) => readFileSync(join(root, file), "utf8").replace(/^#.*\n/gm, "").replace(/^stop\s*=.*/m, 'stop = "2s"'));
  let [runs, errors] = [0, 0];
  for (let i = 0; i < TEXTS; i++) {
    const at = below(FILES.length);
    let text = texts[at];
    for (let times = 1 + below(3); times > 0; times--) text = changed(text, below, i % 2);
    const result = JSON.parse(answer(JSON.stringify({ do: "run", file: FILES[at], text, seed: i, algorithm: i % 3 ? "lisa" : undefined })));
    if (result.error === undefined) runs += 1;
    else {
      errors += 1;
      assert.ok(!result.error.includes("\n"), result.error);
    }
  }
  console.log(`${runs} runs, ${errors} errors`);
  assert.ok(runs > TEXTS / 15 && errors > TEXTS / 15, `${runs} runs, ${errors} errors`);
});

test("changed requests", { skip }, async () => {
  const answer = await instantiate(await WebAssembly.compile(readFileSync(wasm)));
  const below = generator(2);
  const text = readFileSync(join(root, FILES[0]), "utf8").replace(/^stop\s*=.*/m, 'stop = "1s"');
  const request = JSON.stringify({ do: "outcome", file: "a.toml", text, seed: 1, algorithm: "lisa", files: { "b.csv": "1,2" } });
  for (let i = 0; i < TEXTS; i++) {
    const result = JSON.parse(answer(changed(request, below, i % 2)));
    assert.ok(result.error === undefined || !result.error.includes("\n"), result.error);
  }
});
