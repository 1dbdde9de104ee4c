// The page in Chromium, from a file, without a server.
//
// CHROMIUM is the browser, default /usr/bin/chromium; PAGE the page, default out/explorer/index.html. SCREENSHOTS: a folder for pictures.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const file = process.env.PAGE ?? join(root, "out/explorer/index.html");
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const skip = [file, executablePath].filter((file) => !existsSync(file)).map((file) => `${file} is missing`)[0];
const url = pathToFileURL(file).href;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// For a loaded machine.
const timeout = 120_000;

let browser;
before(async () => {
  // Root has no sandbox; the page is ours.
  if (!skip) browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser?.close());

/** Opens the page and waits for its first results. */
async function open(hash = "", options = {}, address = url) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
  context.setDefaultTimeout(timeout);
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("request", (request) => /^(https?|ws):/.test(request.url()) && page.problems.push(`request: ${request.url()}`));
  await page.goto(address + hash);
  await page.locator("section.run").first().waitFor();
  return page;
}

const answers = (page) => page.evaluate(() => Number(document.documentElement.dataset.answers));
const results = (page) => page.locator(".table").innerText();
const scenario = (page) => page.locator("#scenario").inputValue();

/** Does something, and waits for the results of it. */
async function redraw(page, action) {
  const before = await answers(page);
  await action();
  await page.waitForFunction((before) => Number(document.documentElement.dataset.answers) > before, before);
}

const slide = (page, key, value) =>
  redraw(page, () =>
    page.locator(`input[data-key="${key}"]`).evaluate((input, value) => {
      input.value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }, value),
  );

/** Number of pixels by which the page is wider than the window. */
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

async function picture(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: true });
}

async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

test("the page is small", { skip }, () => {
  const size = gzipSync(readFileSync(file)).length;
  console.log(`${Math.round(size / 1000)} KB compressed`);
  assert.ok(size < 3_000_000, `${size} bytes`);
});

test("it begins with figure 1 of LISA", { skip, timeout }, async () => {
  const page = await open();
  assert.deepEqual(await page.locator("section.run h2").allInnerTexts(), ["lia", "lisa"]);
  assert.match(await results(page), /Completion time/);
  assert.match(await page.locator(".why").nth(1).innerText(), /joins with a credit of 10 segments/);
  await picture(page, "light");
  await close(page);
});

test("the first results are there within a second", { skip, timeout }, async () => {
  const times = [];
  for (let i = 0; i < 5; i++) {
    const page = await open();
    times.push(Number(await page.evaluate(() => document.documentElement.dataset.loaded)));
    await close(page);
  }
  console.log(`first results after ${times.join(", ")} ms`);
  // The best of them, because other programs may keep the processor.
  assert.ok(Math.min(...times) <= 1000);
});

test("each slider changes its key and the results", { skip, timeout }, async () => {
  const page = await open();
  const keys = await page.locator("input[data-key]").evaluateAll((inputs) => inputs.map((input) => input.dataset.key));
  assert.deepEqual(keys, ["topology.rate", "topology.rtt", "topology.queue", "connection.bytes", "connection.initial_window", "connection.join_delay", "connection.subflows"]);
  for (const key of keys) {
    const [text, shown] = [await scenario(page), await results(page)];
    await slide(page, key, 700);
    assert.notEqual(await scenario(page), text, key);
    assert.notEqual(await results(page), shown, key);
  }
  // Comments stay.
  assert.match(await scenario(page), /^# LISA \(ICC 2016\), figure 1/);
  await close(page);
});

test("a change of a slider redraws quickly", { skip, timeout }, async () => {
  const page = await open();
  const times = [];
  for (let i = 0; i < 30; i++) {
    await slide(page, "topology.queue", 400 + 15 * i);
    times.push(Number(await page.evaluate(() => document.documentElement.dataset.redraw)));
  }
  times.sort((a, b) => a - b);
  console.log(`redrawn after ${times[0]} ms at best, ${times[15]} ms in the median`);
  // The best of them, because other programs may keep the processor.
  assert.ok(times[0] <= 50, `${times[0]} ms`);
  await close(page);
});

test("each path gets an RTT of its own", { skip, timeout }, async () => {
  const page = await open();
  await redraw(page, () => page.getByRole("button", { name: "An RTT for each path" }).click());
  assert.match(await scenario(page), /rtt = \[\s*"70ms",\s*"70ms"\s*\]/);
  await slide(page, "topology.rtt.1", 200);
  assert.doesNotMatch(await scenario(page), /rtt = \[\s*"70ms",\s*"70ms"\s*\]/);
  await redraw(page, () => page.getByRole("button", { name: "One RTT for all paths" }).click());
  assert.match(await scenario(page), /rtt = "70ms"/);
  await close(page);
});

test("algorithms stand side by side", { skip, timeout }, async () => {
  const page = await open();
  await redraw(page, () => page.getByRole("button", { name: "Add an algorithm" }).click());
  await redraw(page, () => page.getByLabel("Algorithm 3").selectOption("css"));
  assert.deepEqual(await page.locator("section.run h2").allInnerTexts(), ["lia", "lisa", "css"]);
  await redraw(page, () => page.getByRole("button", { name: "Remove lia" }).click());
  assert.deepEqual(await page.locator("section.run h2").allInnerTexts(), ["lisa", "css"]);
  await close(page);
});

test("a page can begin with another scenario", { skip, timeout }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "explorer-"));
  try {
    const text = readFileSync(join(root, "crates/lisa/presets/home-two-lines.toml"), "utf8").replace(/^# .*$/m, "# </script><b>");
    const start = JSON.stringify({ file: "home.toml", text }).replaceAll("<", "\\u003c");
    const empty = '<script type="application/json" id="start">null</script>';
    const page = readFileSync(file, "utf8");
    assert.ok(page.includes(empty));
    // As `lisa explore FILE` writes it.
    writeFileSync(join(folder, "page.html"), page.replace(empty, () => empty.replace("null", () => start)));
    const opened = await open("", {}, pathToFileURL(join(folder, "page.html")).href);
    assert.equal(await scenario(opened), text);
    assert.match(await results(opened), /neighbour/);
    await close(opened);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file that the scenario names is added", { skip, timeout }, async () => {
  const page = await open();
  await redraw(page, () => page.locator("#preset").selectOption({ label: "A phone with Wi-Fi and LTE" }));
  const text = (await scenario(page)).replace('rate = ["20Mbit", "10Mbit"]', 'rate = ["20Mbit", { trace = "lte.up" }]');
  await page.locator("#scenario").fill(text);
  await page.locator("#problem", { hasText: "lte.up" }).waitFor();
  const buffer = Buffer.from(Array.from({ length: 1000 }, (_, i) => `${i + 1}\n`).join(""));
  await redraw(page, () => page.locator("#files").setInputFiles({ name: "lte.up", mimeType: "text/plain", buffer }));
  assert.equal(await page.locator("#problem").innerText(), "");
  await close(page);
});

test("the link holds the whole state", { skip, timeout }, async () => {
  const page = await open();
  await slide(page, "topology.queue", 300);
  await redraw(page, () => page.getByLabel("Algorithm 1").selectOption("olia"));
  await redraw(page, () => page.locator("#seed").fill("9").then(() => page.locator("#seed").blur()));
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.locator("#time").fill(await page.locator("#time").getAttribute("max"));
  await page.locator("#link").click();
  await page.waitForFunction(() => location.hash.length > 10);
  const of = (page) =>
    Promise.all([
      scenario(page),
      results(page),
      page.locator("#seed").inputValue(),
      page.locator("#time").getAttribute("max"),
      page.locator("#time").inputValue(),
    ]);
  const other = await open(await page.evaluate(() => location.hash));
  assert.deepEqual(await of(other), await of(page));
  await close(page);
  await close(other);
  const damaged = await open("#damaged");
  assert.match(await damaged.locator(".notice").innerText(), /damaged/);
  await close(damaged);
});

test("each preset runs", { skip, timeout: 4 * timeout }, async () => {
  const page = await open();
  const names = await page.locator("#preset option").allInnerTexts();
  assert.ok(names.length > 10);
  for (const [index, name] of names.slice(1).entries()) {
    if (index > 0) await redraw(page, () => page.locator("#preset").selectOption({ label: name }));
    assert.equal(await page.locator("#problem").innerText(), "", name);
    assert.ok((await overflow(page)) <= 0, `${name}: wider than the window`);
    await picture(page, `preset-${index + 1}`);
  }
  await close(page);
});

test("a broken scenario has the program's line", { skip, timeout }, async () => {
  const page = await open();
  const text = await scenario(page);
  await page.locator("#scenario").fill(text.replace("queue =", "qeue ="));
  await page.locator("#problem", { hasText: "fig1.toml" }).waitFor();
  assert.match(await page.locator("#problem").innerText(), /^fig1\.toml:14: `topology\.qeue`: .*did you mean `queue`\?/);
  await picture(page, "broken");
  await page.locator("#scenario").fill("a = = 2");
  await page.locator("#problem", { hasText: "fig1.toml:1:" }).waitFor();
  assert.equal(await page.locator("input[data-key]").count(), 0);
  await redraw(page, () => page.locator("#scenario").fill(text));
  assert.equal(await page.locator("#problem").innerText(), "");
  await close(page);
});

test("the keyboard zooms, plays and moves the time", { skip, timeout }, async () => {
  const page = await open();
  const most = async () => Number(await page.locator("#time").getAttribute("max"));
  const whole = await most();
  await page.locator("body").press("+");
  await page.waitForFunction((whole) => Number(document.getElementById("time").max) < whole, whole);
  await page.locator("body").press("0");
  await page.waitForFunction((whole) => Number(document.getElementById("time").max) === whole, whole);
  await page.locator("body").press("ArrowRight");
  await page.waitForFunction(() => Number(document.getElementById("time").value) > 0);
  await page.locator("body").press("Space");
  const before = Number(await page.locator("#time").inputValue());
  await page.waitForFunction((before) => Number(document.getElementById("time").value) > before + 0.05, before);
  await page.locator("body").press("Space");
  assert.equal(await page.locator("#play").innerText(), "Play");
  // A reason sets the time.
  const reason = page.locator(".why button").nth(2);
  const time = (await reason.innerText()).split(" ")[0];
  await reason.click();
  assert.match(await page.locator("section.time output").innerText(), new RegExp(time));
  await picture(page, "reason");
  await close(page);
});

test("a drag over a figure zooms all figures", { skip, timeout }, async () => {
  const page = await open();
  const plot = page.locator(".u-over").first();
  const { x, y, width, height } = await plot.boundingBox();
  await page.mouse.move(x + width * 0.2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => Number(document.getElementById("time").min) > 0);
  await picture(page, "zoomed");
  await page.getByRole("button", { name: "Whole run" }).click();
  await page.waitForFunction(() => Number(document.getElementById("time").min) === 0);
  await close(page);
});

for (const [name, options] of [
  ["wide, light", { colorScheme: "light" }],
  ["wide, dark", { colorScheme: "dark" }],
  ["phone, light", { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true }],
]) {
  test(`axe finds nothing: ${name}`, { skip, timeout }, async () => {
    const page = await open("", options);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
    assert.deepEqual(found, []);
    assert.ok((await overflow(page)) <= 0, "wider than the window");
    await picture(page, name.replace(", ", "-"));
    await close(page);
  });
}
