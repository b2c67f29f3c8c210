import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { digestTexts, findText, readFolder } from '@trellis/codegen/documents';
import type { Browser, Page } from 'playwright-core';
import sharp, { type OverlayOptions } from 'sharp';
import { findLayoutProblems } from '../tests/e2e/matrix/rules.js';
import { MATRIX_PAGES, type MatrixPage, openState, type State, STATES, WIDTHS } from '../tests/e2e/matrix/states.js';
import { findViolations } from '../tests/e2e/support/axe.js';
import { openBrowser } from '../tests/e2e/support/chromium.js';
import { signUp } from '../tests/e2e/support/sign-up.js';
import { startServer } from '../tests/running-server.js';
import { buildPages } from './build-pages.js';
import { invite, keepDays, keepReviews, setUp, startDocsForges, storeSecrets } from './docs/scenes.js';

/**
 * Draws every page in every state, width and theme, measures it against the rules of the layout and of axe, and writes a
 * contact sheet for each page to `.cache/matrix`. Exits with 1 if a rule is broken. `--pictures` also keeps the pictures
 * in full size, and the accessibility tree of each page and state.
 *
 * `--resume` keeps the results of earlier runs with the same pages, and draws the rest: after an interruption, or beside
 * a second process that draws other pages.
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
    resume: { type: 'boolean' },
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
/** The room between two thumbnails, and that of the labels around them. */
const GAP = 4;
const MARGIN = { left: 90, top: 20 };

/** axe takes long, and its rules depend on the width only where the layout changes. */
const AXE_WIDTHS: readonly number[] = [320, 1280];

const sizes = [
  ...widths.map((width) => ({ width, height: HEIGHT })),
  ...ZOOMED.filter(({ width }) => values.width?.includes(String(width)) ?? true),
];

/** The result of one state of a page in all sizes and themes. Its thumbnails are in a file beside it. */
interface Result {
  /** The build and the sizes; a result with a different key is out of date. */
  readonly key: string;
  readonly checks: number;
  readonly problems: readonly { readonly problem: string; readonly where: string }[];
}

const toFile = (entry: MatrixPage, state: State, ending: string): string =>
  path.join(FOLDER, 'states', `${entry.name}-${state}.${ending}`);

async function findResult(key: string, entry: MatrixPage, state: State): Promise<Result | undefined> {
  const text = await findText(toFile(entry, state, 'json'));
  const result = text === undefined ? undefined : (JSON.parse(text) as Result);
  return result?.key === key ? result : undefined;
}

/** Draws one state of a page in all sizes and themes. */
async function draw(page: Page, origin: string, entry: MatrixPage, state: State, key: string): Promise<void> {
  const problems: { problem: string; where: string }[] = [];
  const thumbnails: OverlayOptions[] = [];
  const isTool = entry.name === 'graphiql' || entry.name === 'reference';
  await page.setViewportSize({ width: 1280, height: HEIGHT });
  await openState(page, origin, entry, state);
  if (values.pictures === true) {
    await writeFile(path.join(FOLDER, `${entry.name}-${state}.yaml`), await page.locator('body').ariaSnapshot());
  }
  for (const [row, colorScheme] of THEMES.entries()) {
    await page.emulateMedia({ colorScheme });
    for (const [column, size] of sizes.entries()) {
      const { width, height } = size;
      await page.setViewportSize(size);
      // Two frames: one for the new size, one for observers that react to it.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const found = (await findLayoutProblems(page)).map(({ rule, at }) => `${rule}: ${at}`);
      if (AXE_WIDTHS.includes(width) && height === HEIGHT && !isTool) found.push(...(await findViolations(page, [])));
      const where = `${state} ${width} × ${height} ${colorScheme}`;
      problems.push(...found.map((problem) => ({ problem: `${entry.name}: ${problem}`, where })));
      const drawn = await page.screenshot({ type: 'jpeg', quality: 90 });
      if (values.pictures === true) {
        await writeFile(path.join(FOLDER, `${entry.name}-${state}-${width}x${height}-${colorScheme}.jpg`), drawn);
      }
      const fitted = { ...THUMBNAIL, fit: 'contain', position: 'top', background: '#888' } as const;
      const input = await sharp(drawn).resize(fitted).toBuffer();
      thumbnails.push({ input, left: column * (THUMBNAIL.width + GAP), top: row * (THUMBNAIL.height + GAP) });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await sharp({ create: toCanvas(sizes.length, THEMES.length) })
    .composite(thumbnails)
    .png()
    .toFile(toFile(entry, state, 'png'));
  const result: Result = { key, checks: thumbnails.length, problems };
  await writeFile(toFile(entry, state, 'json'), JSON.stringify(result));
}

const toCanvas = (columns: number, rows: number, margin = { left: 0, top: 0 }) => ({
  width: margin.left + columns * (THUMBNAIL.width + GAP),
  height: margin.top + rows * (THUMBNAIL.height + GAP),
  channels: 3 as const,
  background: '#444',
});

/** Writes the contact sheet of a page: a row for each state and theme, a column for each size. */
async function writeSheet(entry: MatrixPage): Promise<void> {
  const [wide, high] = [THUMBNAIL.width + GAP, THUMBNAIL.height + GAP];
  const texts = [
    ...sizes.map((size, index) => [MARGIN.left + index * wide, 14, `${size.width} × ${size.height}`] as const),
    ...states.map((state, index) => [4, MARGIN.top + index * THEMES.length * high + 20, state] as const),
  ].map(([left, top, text]) => `<text x="${left}" y="${top}">${text}</text>`);
  const canvas = toCanvas(sizes.length, states.length * THEMES.length, MARGIN);
  const labels = `<svg xmlns="http://www.w3.org/2000/svg" width="${canvas.width}" height="${canvas.height}"
    fill="#fff" font-family="sans-serif" font-size="14">${texts.join('')}</svg>`;
  const strips = states.map((state, index) => ({
    input: toFile(entry, state, 'png'),
    ...{ left: MARGIN.left, top: MARGIN.top + index * THEMES.length * high },
  }));
  const sheet = sharp({ create: canvas }).composite([...strips, { input: Buffer.from(labels), left: 0, top: 0 }]);
  await sheet.png({ palette: true, effort: 4 }).toFile(path.join(FOLDER, `${entry.name}.png`));
}

/** Draws what has no result yet, in a browser at a server with data. */
async function drawMissing(key: string): Promise<void> {
  const missing: (readonly [MatrixPage, State])[] = [];
  for (const entry of pages)
    for (const state of states) if (!(await findResult(key, entry, state))) missing.push([entry, state]);
  if (missing.length === 0) return;
  const folder = await mkdtemp(path.join(tmpdir(), 'trellis-matrix-'));
  const [server, forges, browser] = await Promise.all([
    startServer(['--state', folder], { LOG_LEVEL: 'warn' }),
    startDocsForges(),
    openBrowser(),
  ]);
  try {
    const page = await openWindow(browser);
    await server.printed('setup-link');
    const link = (await readFile(path.join(folder, 'setup-link'), 'utf8')).trim();
    const { origin } = new URL(link);
    await signUp(page, link, 'mona');
    const visitor = await openWindow(browser);
    const guest = await openWindow(browser);
    await signUp(guest, await invite(page, origin), 'hubot');
    const readers = { admin: page, guest, visitor };
    const drawAll = async (isEmpty: boolean): Promise<void> => {
      for (const [entry, state] of missing) {
        if ((state === 'empty') !== isEmpty) continue;
        await draw(readers[entry.reader ?? 'admin'], origin, entry, state, key);
        process.stderr.write(`${entry.name}, ${state}\n`);
      }
    };
    await drawAll(true);
    await page.unrouteAll();
    keepDays(path.join(folder, 'trellis.db'));
    await setUp(page, origin, forges);
    keepReviews(path.join(folder, 'trellis.db'));
    await storeSecrets(page, origin);
    await drawAll(false);
  } finally {
    await browser.close();
    await server.stop();
    await forges.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens a window of a user, or of a visitor until they sign in. */
async function openWindow(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: HEIGHT }, locale: 'en-GB' });
  return context.newPage();
}

await buildPages();
if (values.resume !== true) await rm(FOLDER, { recursive: true, force: true });
await mkdir(path.join(FOLDER, 'states'), { recursive: true });
const key = digestTexts([...(await readFolder('dist/pages')), ['sizes', JSON.stringify(sizes)]]);
await drawMissing(key);

let checks = 0;
const broken = new Map<string, string[]>();
for (const entry of pages) {
  for (const state of states) {
    const result = await findResult(key, entry, state);
    checks += result?.checks ?? 0;
    for (const { problem, where } of result?.problems ?? [])
      broken.set(problem, [...(broken.get(problem) ?? []), where]);
  }
  await writeSheet(entry);
}
const report = [...broken].map(([problem, where]) => `${problem}\n  ${where.length} times, such as ${where[0]}\n`);
await writeFile(path.join(FOLDER, 'report.txt'), report.join(''));
process.stdout.write(
  `${checks} combinations. ${report.length === 0 ? 'No rule is broken.\n' : `\n${report.join('')}`}`,
);
process.exitCode = report.length === 0 ? 0 : 1;
