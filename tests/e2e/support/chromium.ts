import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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

const PROGRAM = fileURLToPath(new URL('./browser-host.js', import.meta.url));

/** The global property with the address of this worker's browser, which all its test files share. */
const BROWSER = Symbol.for('trellis.browser');
const shared = globalThis as { [BROWSER]?: Promise<string> };

/** Connects to the browser of this worker. Closing the connection closes its contexts, but not the browser. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.connect(await (shared[BROWSER] ??= startHost()));
  Object.assign(globalThis, { [DESCRIBE_PAGES]: () => describePages(browser) });
  return browser;
}

/** Starts a browser of its own, whose scroll bars take space like those of most computers. The shared one has none. */
export const startBrowserWithScrollBars = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium(),
    ignoreDefaultArgs: ['--hide-scrollbars'],
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
    timeout: 120_000,
  });

/** Starts a browser that does not keep this worker from exiting, and ends with it. Returns its address. */
async function startHost(): Promise<string> {
  const child = fork(PROGRAM, [findChromium() ?? ''], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').finally(() => Reflect.deleteProperty(shared, BROWSER));
  const [endpoint] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
  if (typeof endpoint !== 'string') throw new Error('The browser could not be started.');
  child.unref();
  child.channel?.unref();
  return endpoint;
}

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
