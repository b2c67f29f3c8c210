import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

const USUAL_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** `CHROMIUM_PATH`, or wherever a Chromium usually is. */
const findChromium = (): string | undefined =>
  [process.env.CHROMIUM_PATH ?? '', ...USUAL_PATHS].find((path) => path !== '' && existsSync(path));

/** Runs the tests in a browser; without one it says loudly that it does not. */
export const describeInBrowser: (name: string, tests: () => void) => void = (name, tests) => {
  if (findChromium() !== undefined) {
    describe(name, tests);
    return;
  }
  process.stderr.write(
    `\n*** SKIPPED: "${name}" needs Chromium. Install it, or say where it is with CHROMIUM_PATH. ***\n\n`,
  );
  describe.skip(name, tests);
};

export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findChromium() ?? '',
    // No sandbox, as containers that run tests as root allow none; the pages are our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    timeout: LAUNCH_MS,
  });
  Object.assign(globalThis, { [TELL]: () => tellPages(browser) });
  return browser;
}

/** A busy machine takes its time. */
const LAUNCH_MS = 120_000;

/** Where `in-order.js` asks it, as a test fails. */
const TELL = Symbol.for('trellis.tell-pages');

/** Of a page that is too long to be read in a log, its end is told, where messages are. */
const TOLD_CHARACTERS = 3_000;

async function tellPages(browser: Browser): Promise<string> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  return (await Promise.all(pages.map(tellPage))).join('\n\n');
}

async function tellPage(page: Page): Promise<string> {
  const shown = await page
    .locator('body')
    .ariaSnapshot({ timeout: 5_000 })
    .catch((error: unknown) => String(error));
  return `${page.url()} showed:\n${shown.slice(-TOLD_CHARACTERS)}`;
}
