// Answers requests to the simulator, one a line of standard input, on a line of standard output each: for tests in other languages.
//
//     node answers.js WASM     the WebAssembly of crates/explore

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { instantiate } from "./src/simulator.js";

const answer = await instantiate(await WebAssembly.compile(readFileSync(process.argv[2])));
for await (const line of createInterface({ input: process.stdin })) process.stdout.write(answer(line) + "\n");
