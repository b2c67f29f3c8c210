import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import sharp, { type OverlayOptions } from 'sharp';
import { findLayoutProblems } from '../tests/e2e/matrix/rules.js';
import { MATRIX_PAGES, type MatrixPage, openState, type State, STATES, WIDTHS } from '../tests/e2e/matrix/states.js';
import { findViolations } from '../tests/e2e/support/axe.js';
import { openBrowser } from '../tests/e2e/support/chromium.js';
import { signUp } from '../tests/e2e/support/sign-up.js';
import { startServer } from '../tests/running-server.js';
import { buildPages } from './build-pages.js';
import { startDocsForges } from './docs/forges.js';
import { keepDays, keepReviews, setUp, storeSecrets } from './docs/scenes.js';

/**
 * Draws every page in every state, width and theme, measures it against the rules of the layout and of axe, and writes a
 * contact sheet for each page to `.cache/matrix`. Exits with 1 if a rule is broken. `--pictures` also keeps the pictures
 * in full size, and the accessibility tree of each page and state.
 *
 *     npm run pages:matrix -- --page board --page issues --width 320
 */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const { values } = parseArgs({
  options: {
    page: { type: 'string', multiple: true },
    width: { type: 'string', multiple: true },
    state: { type: 'string', multiple: true },
    pictures: { type: 'boolean' },
  },
});
/** Pages that need the data of this script, beside those that every server has. */
const PAGES: readonly MatrixPage[] = [
  ...MATRIX_PAGES,
  { name: 'pull-request', path: '/?row=github/acme/shop/417' },
  { name: 'secret', path: '/vault/objects/database-password' },
];

const pages = PAGES.filter(({ name }) => values.page?.includes(name) ?? true);
const widths = WIDTHS.filter((width) => values.width?.includes(String(width)) ?? true);
const states = (['empty', ...STATES] as const).filter((state) => values.state?.includes(state) ?? true);
const THEMES = ['light', 'dark'] as const;

const FOLDER = '.cache/matrix';
const HEIGHT = 800;

/** The windows in CSS pixels of a screen of 1280 × 1024 at 200 % and at 400 % zoom, beside those of each width. */
const ZOOMED = [
  { width: 640, height: 512 },
  { width: 320, height: 256 },
];
const THUMBNAIL = { width: 180, height: 220 };

/** axe takes long, and its rules depend on the width only where the layout changes. */
const AXE_WIDTHS: readonly number[] = [320, 1280];

const sizes = [
  ...widths.map((width) => ({ width, height: HEIGHT })),
  ...ZOOMED.filter(({ width }) => values.width?.includes(String(width)) ?? true),
];

interface Cell {
  readonly row: number;
  readonly column: number;
  readonly picture: Buffer;
}

const cells = new Map<string, Cell[]>();
const broken = new Map<string, string[]>();

/** Draws one state of a page in all widths and themes. */
async function draw(page: Page, origin: string, entry: MatrixPage, state: State): Promise<void> {
  await page.setViewportSize({ width: 1280, height: HEIGHT });
  await openState(page, origin, entry, state);
  if (values.pictures === true) {
    await writeFile(path.join(FOLDER, `${entry.name}-${state}.yaml`), await page.locator('body').ariaSnapshot());
  }
  for (const [theme, colorScheme] of THEMES.entries()) {
    await page.emulateMedia({ colorScheme });
    for (const [column, size] of sizes.entries()) {
      const { width, height } = size;
      await page.setViewportSize(size);
      // Two frames: one for the new size, one for observers that react to it.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const problems = (await findLayoutProblems(page)).map(({ rule, at }) => `${rule}: ${at}`);
      const isTool = entry.name === 'graphiql' || entry.name === 'reference';
      if (AXE_WIDTHS.includes(width) && height === HEIGHT && !isTool)
        problems.push(...(await findViolations(page, [])));
      for (const problem of problems) note(`${entry.name}: ${problem}`, `${state} ${width} × ${height} ${colorScheme}`);
      const drawn = await page.screenshot();
      if (values.pictures === true) {
        await writeFile(path.join(FOLDER, `${entry.name}-${state}-${width}x${height}-${colorScheme}.png`), drawn);
      }
      const picture = await sharp(drawn)
        .resize({ ...THUMBNAIL, fit: 'contain', position: 'top', background: '#888' })
        .png()
        .toBuffer();
      const row = states.indexOf(state) * THEMES.length + theme;
      cells.set(entry.name, [...(cells.get(entry.name) ?? []), { row, column, picture }]);
    }
  }
  await page.emulateMedia({ colorScheme: null });
}

const note = (problem: string, where: string): void =>
  void broken.set(problem, [...(broken.get(problem) ?? []), where]);

/** Writes the pictures of a page: a row for each state and theme, a column for each width. */
async function writeSheet(name: string, pictures: readonly Cell[]): Promise<void> {
  const [wide, high] = [THUMBNAIL.width + 4, THUMBNAIL.height + 4];
  const layers: OverlayOptions[] = pictures.map(({ row, column, picture }) => ({
    input: picture,
    left: column * wide,
    top: row * high,
  }));
  const size = { width: sizes.length * wide, height: states.length * THEMES.length * high };
  const sheet = sharp({ create: { ...size, channels: 3, background: '#555' } }).composite(layers);
  await sheet.png({ palette: true, effort: 4 }).toFile(path.join(FOLDER, `${name}.png`));
}

await buildPages();
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const folder = await mkdtemp(path.join(tmpdir(), 'trellis-matrix-'));
const [server, forges, browser] = await Promise.all([
  startServer(['--state', folder], { LOG_LEVEL: 'warn' }),
  startDocsForges(),
  openBrowser(),
]);
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: HEIGHT }, locale: 'en-GB' });
  const page = await context.newPage();
  await server.printed('setup-link');
  const link = (await readFile(path.join(folder, 'setup-link'), 'utf8')).trim();
  const { origin } = new URL(link);
  await signUp(page, link, 'mona');
  if (states.includes('empty')) for (const entry of pages) await draw(page, origin, entry, 'empty');
  await page.unrouteAll();
  keepDays(path.join(folder, 'trellis.db'));
  await setUp(page, origin, forges);
  keepReviews(path.join(folder, 'trellis.db'));
  await storeSecrets(page, origin);
  for (const entry of pages) {
    for (const state of states) if (state !== 'empty') await draw(page, origin, entry, state);
    await writeSheet(entry.name, cells.get(entry.name) ?? []);
    cells.delete(entry.name);
    process.stderr.write(`${entry.name}\n`);
  }
} finally {
  await browser.close();
  await server.stop();
  await forges.close();
  await rm(folder, { recursive: true, force: true });
}

const report = [...broken].map(([problem, where]) => `${problem}\n  ${where.length} times, such as ${where[0]}\n`);
await writeFile(path.join(FOLDER, 'report.txt'), report.join(''));
process.stdout.write(report.length === 0 ? 'No rule is broken.\n' : report.join(''));
process.exitCode = report.length === 0 ? 0 : 1;
