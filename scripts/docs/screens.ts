import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import sharp from 'sharp';
import type { BoardForges } from '../../tests/e2e/board/board-forges.js';
import { openBrowser } from '../../tests/e2e/support/chromium.js';
import { signUp } from '../../tests/e2e/support/sign-up.js';
import { startServer } from '../../tests/running-server.js';
import { buildPages } from '../build-pages.js';
import {
  invite,
  keepDays,
  keepReviews,
  openDetails,
  openRecipe,
  pasteVariables,
  setUp,
  startDocsForges,
  storeSecrets,
  tryOut,
} from './scenes.js';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const FOLDER = 'docs/screens';

/** The path of each page, the selector to wait for, and the steps before the screenshot. */
type Scene = readonly [string, string, ((page: Page) => Promise<void>)?];

const PAGES: Readonly<Record<string, Scene>> = {
  'pull-requests': ['/', '.pull'],
  'pull-request': ['/', '.panel [role=list], .panel ul', openDetails],
  issues: ['/issues', '.pull'],
  insights: ['/insights', '.bar-row'],
  repositories: ['/repositories', 'li.repository'],
  secrets: ['/vault', 'h1'],
  secret: ['/vault/objects/database-password', 'h1'],
  owner: ['/vault/identity', '.things li'],
  'new-secret': ['/vault/new', 'h1'],
  import: ['/vault/import', 'table', pasteVariables],
  consumers: ['/vault/consumers', 'h1'],
  writers: ['/vault/writers', 'h1'],
  'secret-tokens': ['/vault/tokens', 'h1'],
  device: ['/vault/device', 'h1'],
  'audit-log': ['/vault/audit', 'h1'],
  settings: ['/settings', 'h2'],
  admin: ['/admin', 'h2'],
};

/** Pages that need neither board nor secrets. */
const OF_THE_SITE: Readonly<Record<string, Scene>> = {
  site: ['/site?folder=images', '.entries img'],
  recipe: ['/site?folder=images', '.candidates tr:nth-child(3)', openRecipe],
  records: ['/site/records?kind=Recipe', 'table.grid tbody tr'],
  graphiql: ['/graphql', '.result-window .cm-property', (page) => page.locator('.graphiql-execute-button').click()],
  docs: ['/docs', '.live-responses-table', tryOut],
  services: ['/services', 'h1'],
};

/** The names of the screenshots: those after `--`, or all. */
const named = process.argv.slice(2);
const isWanted = (name: string): boolean => named.length === 0 || named.includes(name);

const SIZES = { desktop: { width: 1200, height: 850 }, phone: { width: 390, height: 844 } } as const;

/** Waits for content that loads after the selector matches: other parts, and images. */
const SETTLE_MS = 900;

await buildPages();
await mkdir(FOLDER, { recursive: true });
const state = await mkdtemp(path.join(tmpdir(), 'trellis-screens-'));
const [server, forges, browser] = await Promise.all([
  startServer(['--state', state], { LOG_LEVEL: 'warn' }),
  startDocsForges(),
  openBrowser(),
]);
try {
  await takeAll(browser, forges);
} finally {
  await browser.close();
  await server.stop();
  await forges.close();
  await rm(state, { recursive: true, force: true });
}

async function takeAll(window: Browser, board: BoardForges): Promise<void> {
  const context = await window.newContext({ viewport: SIZES.desktop, locale: 'en-GB' });
  const page = await context.newPage();
  await server.printed('setup-link');
  const link = (await readFile(path.join(state, 'setup-link'), 'utf8')).trim();
  const { origin } = new URL(link);
  await page.goto(link);
  await page.getByRole('button', { name: 'Create a passkey' }).waitFor();
  await take(page, 'sign-up');
  await takeWithoutPasskeys(context, link);
  await signUp(page, link, 'mona');
  for (const [name, [address, awaited, act]] of Object.entries(OF_THE_SITE)) {
    if (isWanted(name)) await show(page, name, origin + address, awaited, act);
  }
  if (named.length > 0 && named.every((name) => name in OF_THE_SITE)) return;
  await makeIdentity(page, origin);
  keepDays(path.join(state, 'trellis.db'));
  await setUp(page, origin, board);
  keepReviews(path.join(state, 'trellis.db'));
  await storeSecrets(page, origin);
  for (const [name, [address, awaited, act]] of Object.entries(PAGES)) {
    if (isWanted(name)) await show(page, name, origin + address, awaited, act);
  }
  const invitation = await invite(page, origin);
  await page.context().clearCookies();
  await page.goto(invitation);
  await page.getByRole('button', { name: 'Create a passkey' }).waitFor();
  await take(page, 'invitation');
  await page.goto(`${origin}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await take(page, 'sign-in');
}

/** Uses a separate tab, as it deletes an API that other screenshots need. */
async function takeWithoutPasskeys(context: BrowserContext, link: string): Promise<void> {
  const page = await context.newPage();
  await page.setViewportSize(SIZES.desktop);
  await page.addInitScript('delete window.PublicKeyCredential');
  await page.goto(link);
  await page.getByText('What you can do:').waitFor();
  await take(page, 'no-passkeys');
  await page.close();
}

/** Takes screenshots of the key page before a key exists, with its recovery phrase, and afterwards. */
async function makeIdentity(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/vault/identity`);
  const start = page.getByRole('button', { name: 'Create my key' });
  await start.waitFor();
  await take(page, 'owner-first');
  await start.click();
  const list = page.getByRole('list', { name: 'Recovery phrase' });
  await list.waitFor();
  await take(page, 'recovery-phrase');
  const words = await list.getByRole('listitem').allTextContents();
  await page.getByRole('button', { name: 'I have written it down' }).click();
  const labels = page.locator('main form label');
  await labels.first().waitFor();
  for (const label of await labels.allTextContents()) {
    await page.getByLabel(label, { exact: true }).fill(words[Number(label.slice(5)) - 1] ?? '');
  }
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: /^Use the passkey/ }).click();
  await page.getByText('Key created.').waitFor();
}

async function show(
  page: Page,
  name: string,
  address: string,
  awaited: string,
  act?: (page: Page) => Promise<void>,
): Promise<void> {
  await page.goto(address);
  await act?.(page);
  await page.locator(awaited).first().waitFor();
  await page.waitForTimeout(SETTLE_MS);
  await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  await take(page, name);
}

/** Takes a screenshot in each theme, on a desktop and a phone, with a reduced palette to keep it small. */
async function take(page: Page, name: string): Promise<void> {
  if (!isWanted(name)) return;
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const picture = await page.screenshot();
      const small = await sharp(picture).png({ palette: true, colours: 64, effort: 10 }).toBuffer();
      await writeFile(path.join(FOLDER, `${name}-${size}-${colorScheme}.png`), small);
    }
  }
  await page.setViewportSize(SIZES.desktop);
}
