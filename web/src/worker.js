// Runs scenarios beside the page, so that the page stays responsive.

import { instantiate } from "./simulator.js";

let module;
let answer;

/** Compiles the packed WebAssembly: gzip in base64. Browsers decode a `data:` address faster than a script does. */
async function compile(packed) {
  const { body } = await fetch(`data:application/gzip;base64,${packed}`);
  const code = await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  return WebAssembly.compile(code);
}

onmessage = async ({ data }) => {
  if (data.packed) {
    module = compile(data.packed);
    return;
  }
  const begun = performance.now();
  const answers = [];
  for (const request of data.requests) {
    try {
      answer ??= await instantiate(await module);
      answers.push(JSON.parse(answer(JSON.stringify(request))));
    } catch (error) {
      // After a trap the memory is in an unknown state.
      answer = undefined;
      answers.push({ error: `the simulator stopped: ${error.message}` });
    }
  }
  postMessage({ id: data.id, answers, milliseconds: performance.now() - begun });
};
