// Runs scenarios beside the page, so that the page stays responsive.

import { instantiate } from "./simulator.js";

let module;
let answer;

onmessage = async ({ data }) => {
  if (data.module) {
    module = data.module;
    return;
  }
  const begun = performance.now();
  const answers = [];
  for (const request of data.requests) {
    try {
      answer ??= await instantiate(module);
      answers.push(JSON.parse(answer(JSON.stringify(request))));
    } catch (error) {
      // After a trap the memory is in an unknown state.
      answer = undefined;
      answers.push({ error: `the simulator stopped: ${error.message}` });
    }
  }
  postMessage({ id: data.id, answers, milliseconds: performance.now() - begun });
};
