import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { chromium, type Browser, type Page } from 'playwright-core';

const USUAL_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Returns `CHROMIUM_PATH`, or the first usual path at which a Chromium exists. */
const findChromium = (): string | undefined =>
  [process.env.CHROMIUM_PATH ?? '', ...USUAL_PATHS].find((path) => path !== '' && existsSync(path));

/** Declares tests that need a browser. Without one they are skipped with a conspicuous message. */
export const describeInBrowser: (name: string, tests: () => void) => void = (name, tests) => {
  if (findChromium() !== undefined) {
    describe(name, tests);
    return;
  }
  process.stderr.write(
    `\n*** SKIPPED: "${name}" needs Chromium. Install it, or set CHROMIUM_PATH to its path. ***\n\n`,
  );
  describe.skip(name, tests);
};

/** The global property with the browser of this worker, which all its test files share. */
const BROWSER = Symbol.for('trellis.browser');
const shared = globalThis as { [BROWSER]?: Promise<Browser> };

/** Returns the browser of this worker. Callers close the contexts that they open. */
export async function openBrowser(): Promise<Browser> {
  if (!(await shared[BROWSER])?.isConnected()) shared[BROWSER] = launch();
  const browser = await shared[BROWSER]!;
  Object.assign(globalThis, { [DESCRIBE_PAGES]: () => describePages(browser) });
  return browser;
}

/** Starts a browser that does not keep the worker from exiting. Playwright ends it when the worker exits. */
async function launch(): Promise<Browser> {
  const started: ChildProcess[] = [];
  const onStart = (message: unknown): unknown => started.push((message as { process: ChildProcess }).process);
  subscribe('child_process', onStart);
  const browser = await chromium.launch({
    executablePath: findChromium() ?? '',
    // Chromium's sandbox does not work for root in containers. The pages are our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    timeout: LAUNCH_MS,
  });
  unsubscribe('child_process', onStart);
  for (const child of started) {
    child.unref();
    // The pipes are sockets.
    for (const pipe of child.stdio) (pipe as Socket | null)?.unref();
  }
  return browser;
}

/** Long enough for a busy machine. */
const LAUNCH_MS = 120_000;

/** The global function that `in-order.js` calls when a test fails. */
const DESCRIBE_PAGES = Symbol.for('trellis.describe-pages');

/** Longer descriptions are cut to their end, where messages are. */
const MAX_CHARACTERS = 3_000;

async function describePages(browser: Browser): Promise<string> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  return (await Promise.all(pages.map(describePage))).join('\n\n');
}

async function describePage(page: Page): Promise<string> {
  const shown = await page
    .locator('body')
    .ariaSnapshot({ timeout: 5_000 })
    .catch((error: unknown) => String(error));
  return `${page.url()} showed:\n${shown.slice(-MAX_CHARACTERS)}`;
}
