// Builds the explorer: one file, out/explorer/index.html, with everything in it. It works from a disk, a file share or a static server.
//
//     node build.js WASM     the WebAssembly of crates/explore

import { gzipSync } from "node:zlib";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import esbuild from "esbuild";
import svelte from "esbuild-svelte";
import { instantiate } from "./src/simulator.js";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..");
const wasm = process.argv[2];
if (!wasm) {
  console.error("build.js: the path of lisa_explore.wasm is missing; `make explorer` passes it");
  process.exit(2);
}

/** Files that a scenario names, by the name in it. */
function beside(file, text) {
  const names = [...text.replace(/^\s*#.*$/gm, "").matchAll(/\b(?:file|trace|cdf)\s*=\s*"([^"]+)"/g)].map((match) => match[1]);
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(root, dirname(file), name), "utf8")]));
}

const presets = JSON.parse(readFileSync(join(here, "presets.json"), "utf8")).map(({ name, file, algorithms = ["lia", "lisa"] }) => {
  const text = readFileSync(join(root, file), "utf8");
  return { name, file: basename(file), algorithms, text, files: beside(file, text) };
});

const code = readFileSync(wasm);
const answer = await instantiate(await WebAssembly.compile(code));
const algorithms = JSON.parse(answer('{ "do": "algorithms" }'));

async function bundle(entry, options = {}) {
  const result = await esbuild.build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    outdir: "unused",
    target: ["chrome109", "firefox115", "safari16.4"],
    logLevel: "warning",
    legalComments: "inline",
    metafile: true,
    ...options,
  });
  const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending))?.text ?? "";
  return { js: text(".js"), css: text(".css"), inputs: Object.keys(result.metafile.inputs) };
}

/** Licences of the packages that are part of the page, which MIT wants in each copy. */
function licences(inputs) {
  const name = (path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1];
  const names = [...new Set(inputs.map(name).filter(Boolean))].sort();
  return names.map((name) => {
    const folder = join(here, "node_modules", name);
    const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version}: ${license}\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : ""}`;
  }).join("\n\n");
}

const worker = await bundle("worker.js", { format: "iife" });
const page = await bundle("main.js", {
  format: "iife",
  mainFields: ["svelte", "browser", "module", "main"],
  conditions: ["svelte", "browser"],
  plugins: [svelte({ compilerOptions: { css: "external" } })],
});

const packed = gzipSync(code, { level: 9 }).toString("base64");
const data = (value) => JSON.stringify(value).replaceAll("<", "\\u003c");
const html = readFileSync(join(here, "src/index.html"), "utf8")
  // As functions: `$` has a meaning in a replacement text.
  .replace("/* STYLE */", () => page.css)
  .replace("/* LICENCES */", () => licences([...worker.inputs, ...page.inputs]).replaceAll("--", "- -"))
  .replace("/* PRESETS */", () => data(presets))
  .replace("/* ALGORITHMS */", () => data(algorithms))
  .replace("/* WORKER */", () => data(worker.js))
  .replace("/* WASM */", () => packed)
  .replace("/* PAGE */", () => page.js);

const out = join(root, "out/explorer");
mkdirSync(out, { recursive: true });
writeFileSync(join(out, "index.html"), html);
const kilobytes = (bytes) => Math.round(bytes / 1000);
console.log(`out/explorer/index.html: ${kilobytes(html.length)} KB, ${kilobytes(gzipSync(html).length)} KB compressed`);
