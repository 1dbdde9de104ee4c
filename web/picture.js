// Draws docs/img/explorer.png: the page with its first preset, in Chromium. `make figures` runs it.
//
// CHROMIUM is the browser, default /usr/bin/chromium; PAGE the page, default out/explorer/index.html.

import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const page = process.env.PAGE ?? join(root, "out/explorer/index.html");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const tab = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme: "light" });
await tab.goto(pathToFileURL(page).href);
await tab.locator("section.run").first().waitFor();
// The time of the simulation differs from run to run.
await tab.addStyleTag({ content: ".speed { visibility: hidden }" });
await tab.screenshot({ path: join(root, "docs/img/explorer.png"), animations: "disabled" });
await browser.close();
