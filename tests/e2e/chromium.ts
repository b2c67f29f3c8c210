import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

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

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium() ?? '',
    // No sandbox, as containers that run tests as root allow none; the pages are our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
