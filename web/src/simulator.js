// The simulator: crates/explore. A request and its answer are JSON.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the function that answers a request, given as text, with text. */
export async function instantiate(module) {
  const { exports } = await WebAssembly.instantiate(module, {});
  return (request) => {
    const bytes = encoder.encode(request);
    const at = exports.reserve(bytes.length);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    const answer = exports.answer(at, bytes.length);
    const length = new DataView(exports.memory.buffer).getUint32(answer, true);
    const text = decoder.decode(new Uint8Array(exports.memory.buffer, answer + 4, length));
    exports.release(answer, length);
    return text;
  };
}
