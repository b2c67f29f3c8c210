import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cookie } from 'playwright-core';
import { findPath, MATRIX_PAGES, type MatrixPage } from '../tests/e2e/matrix/states.js';
import { openBrowser } from '../tests/e2e/support/chromium.js';
import { type Firefox, openFirefox } from '../tests/e2e/support/firefox.js';
import { signUp } from '../tests/e2e/support/sign-up.js';
import { startServer } from '../tests/running-server.js';
import { buildPages } from './build-pages.js';
import { invite, keepDays, setUp, startDocsForges, storeSecrets } from './docs/scenes.js';

/**
 * Opens every page in Firefox through WebDriver BiDi, and checks its heading, its title and its requests, and that it
 * reports no error and no violation of the content security policy. Exits with 1 if a page fails. Chromium signs up, as Firefox has no virtual passkeys.
 *
 *     npm run pages:firefox
 */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const FIREFOX = process.env.FIREFOX_PATH ?? '/usr/bin/firefox-esr';

/** The pages of the matrix, and those that need the data of this script. */
const PAGES: readonly MatrixPage[] = [
  ...MATRIX_PAGES,
  { name: 'panel', path: '/?row=github/acme/shop/417' },
  { name: 'secret', path: '/vault/objects/database-password' },
];

/** The users in the order in which their pages are opened; their cookies replace those of the user before. */
const READERS = ['visitor', 'guest', 'admin'] as const;

type Sessions = Readonly<Record<(typeof READERS)[number], readonly Cookie[]>>;

const SIZES = [
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
];

/** Waits until a page has a heading and no part that is still loading. */
const IS_DRAWN = `Boolean(document.querySelector('h1')?.textContent) &&
  !(document.querySelector('main')?.textContent ?? '').includes('Loading …')`;

/** The time in which a page has to be drawn; the machines of CI are slow. */
const TIMEOUT_MS = 30_000;

async function main(): Promise<string[]> {
  await buildPages();
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-firefox-'));
  const [server, forges] = await Promise.all([
    startServer(['--state', folder], { LOG_LEVEL: 'warn' }),
    startDocsForges(),
  ]);
  try {
    await server.printed('setup-link');
    const link = (await readFile(path.join(folder, 'setup-link'), 'utf8')).trim();
    const sessions = await prepare(link, folder, forges);
    return await visitAll(new URL(link).origin, sessions);
  } finally {
    await server.stop();
    await forges.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates an account with a board and secrets, and one of a guest. Returns the cookies of their sessions. */
async function prepare(
  link: string,
  folder: string,
  forges: Awaited<ReturnType<typeof startDocsForges>>,
): Promise<Sessions> {
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    const { origin } = new URL(link);
    await signUp(page, link, 'mona');
    keepDays(path.join(folder, 'trellis.db'));
    await setUp(page, origin, forges);
    await storeSecrets(page, origin);
    const other = await browser.newContext({ locale: 'en-GB' });
    await signUp(await other.newPage(), await invite(page, origin), 'hubot');
    return { visitor: [], guest: await other.cookies(), admin: await context.cookies() };
  } finally {
    await browser.close();
  }
}

async function visitAll(origin: string, sessions: Sessions): Promise<string[]> {
  const firefox = await openFirefox(FIREFOX);
  try {
    process.stdout.write(`${await firefox.version()}\n`);
    const found: string[] = [];
    for (const reader of READERS) {
      const session = sessions[reader].map(({ name, value, domain, path: place, httpOnly, secure }) => ({
        ...{ name, value, domain, path: place, httpOnly, secure, sameSite: 'Lax' },
      }));
      await firefox.setCookie(...session);
      for (const page of PAGES.filter((one) => (one.reader ?? 'admin') === reader)) {
        const { name } = page;
        const problems = await visit(firefox, origin, await findPath(origin, page));
        process.stdout.write(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${name}\n`);
        found.push(...problems.map((problem) => `${name}: ${problem}`));
      }
    }
    return found;
  } finally {
    await firefox.close();
  }
}

/** Opens a page in both sizes. Returns what is wrong with it. */
async function visit(firefox: Firefox, origin: string, address: string): Promise<string[]> {
  const problems: string[] = [];
  const page = await firefox.newPage();
  const isMissing = address === '/no/such/page';
  page.on('pageerror', (error: Error) => problems.push(`page error: ${error.message}`));
  page.on('console', (message: { type(): string; text(): string }) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request: { url(): string }) => {
    if (!request.url().startsWith(origin) && !/^(?:data|blob|about):/.test(request.url())) {
      problems.push(`request to another host: ${request.url()}`);
    }
  });
  try {
    await page.evaluateOnNewDocument(reportViolations);
    for (const size of SIZES) {
      await page.setViewport(size);
      // An address that differs in its fragment only would load no document.
      await page.goto('about:blank', { waitUntil: 'load' });
      const response = await page.goto(origin + address, { waitUntil: 'load' });
      // The second size can come from the cache.
      const expected = isMissing ? [404] : [200, 304];
      if (!expected.includes(response?.status() ?? 0)) problems.push(`status ${response?.status()}`);
      await page.waitForFunction(IS_DRAWN, { timeout: TIMEOUT_MS });
      const { title, overflow } = await page.evaluate(() => ({
        title: document.title,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      }));
      if (!title.endsWith('Trellis')) problems.push(`title “${title}”`);
      if (overflow > 0) problems.push(`${overflow} px wider than a window of ${size.width} px`);
    }
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  await page.close();
  return problems;
}

/** Runs in the page ahead of its scripts. */
function reportViolations(): void {
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    console.error(`violation of ${effectiveDirective} by ${blockedURI}`);
  });
}

if (!existsSync(FIREFOX)) {
  throw new Error(`${FIREFOX} does not exist. Install Firefox, or set FIREFOX_PATH to its path.`);
}
const failures = await main();
process.stdout.write(failures.length === 0 ? 'No page has a problem.\n' : `${failures.join('\n')}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
