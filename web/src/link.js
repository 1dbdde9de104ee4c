// The state of the page as a part of its address: JSON, compressed, in base64url.

async function through(stream, bytes) {
  const piped = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function encode(state) {
  const text = new TextEncoder().encode(JSON.stringify(state));
  const bytes = await through(new CompressionStream("deflate-raw"), text);
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const isList = (value, type) => Array.isArray(value) && value.every((item) => typeof item === type);

/** The state of an address; throws for an address that is none. */
export async function decode(hash) {
  const binary = atob(hash.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const state = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
  const { text, file, algorithms, seed, range, time, files } = state;
  const isState =
    typeof text === "string" &&
    typeof file === "string" &&
    isList(algorithms, "string") &&
    algorithms.length >= 1 &&
    algorithms.length <= 4 &&
    Number.isSafeInteger(seed) &&
    seed >= 0 &&
    (range === null || (isList(range, "number") && range.length === 2)) &&
    typeof time === "number" &&
    typeof files === "object" &&
    isList(Object.values(files), "string");
  if (!isState) throw new Error("not a state of the explorer");
  return { text, file, algorithms, seed, range, time, files };
}
