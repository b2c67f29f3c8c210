import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { chromium, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { signUp } from '../../tests/e2e/support/sign-up.js';
import { collect, runCli, untilPrinted } from '../../tests/running-server.js';
import { toTable } from '../table.js';
import { makeBoard } from './make-board.js';

/** A phone: its screen, and a processor that is four times slower. */
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };
const SLOWDOWN = 4;

/** Slow 4G as Lighthouse defines it: bytes per second, and milliseconds of a round trip. */
const SLOW_4G = { offline: false, latency: 150, downloadThroughput: 204_800, uploadThroughput: 84_000 };

/** Milliseconds for the server after a page was closed, as the page then sends which rows were seen. */
const SETTLE_MS = 2_000;

/** Milliseconds for one round, on a machine that is busy with other work. */
const ROUND_LIMIT_MS = 180_000;

/** Milliseconds above which a frame was missed at 60 per second: one and a half frames, as their clocks jitter. */
const LATE_MS = 25;

/** The percentile of interactions that INP reports for many of them. */
const INP_PART = 0.98;

/** Measures loads, interactions and scrolling of a board on a phone with a slow network, and the bytes of the tools. */
export async function benchPages({
  rounds,
  fewer,
  rows,
  loadMs,
}: {
  readonly rounds: number;
  readonly fewer: number;
  readonly rows: number;
  readonly loadMs: number;
}): Promise<string> {
  const state = await mkdtemp(path.join(tmpdir(), 'trellis-bench-pages-'));
  const server = runCli(['serve', '--port', '0', '--state', state], { NODE_ENV: 'production' });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  });
  // Scripts in pages have no limit of their own. Closing the browser makes them fail.
  const deadline = setTimeout(() => void browser.close(), (2 * rounds + 2) * ROUND_LIMIT_MS);
  try {
    const output = collect(server);
    await untilPrinted(output, 'setup-link');
    const link = (await readFile(path.join(state, 'setup-link'), 'utf8')).trim();
    const { origin } = new URL(link);
    const context = await browser.newContext(PHONE);
    const page = await context.newPage();
    await signUp(page, link, 'ada');
    await saveSettings(page);
    await page.close();
    const loads: string[][] = [];
    const moves: string[][] = [];
    for (const count of new Set([fewer, rows])) {
      saveBoard(state, count);
      const measured = [];
      for (let round = 0; round < rounds; round += 1) measured.push(await measureBoard(context, origin, loadMs));
      loads.push([`${count} pull requests`, ...summarizeLoads(measured)]);
      moves.push([`${count} pull requests`, ...summarizeMoves(measured)]);
    }
    const tools = [];
    for (const [name, address] of TOOLS)
      tools.push([name, ...(await measureTool(context, origin + address, 2 * loadMs))]);
    const load = `Load of the machine: ${loadavg()[0]?.toFixed(1) ?? ''}. Times in ms: median, worst.`;
    return [
      load,
      toTable(['load', 'first: kB', 'script, kB', 'largest paint', 'shift', 'second: largest paint', 'back'], loads),
      toTable(['use', 'interactions', 'median', 'p98', 'worst', 'frames', 'late'], moves),
      toTable(['tool', 'kB until the first paint', 'kB in all', 'first paint'], tools),
    ].join('\n\n');
  } finally {
    clearTimeout(deadline);
    await browser.close();
    server.kill('SIGKILL');
    await rm(state, { recursive: true, force: true });
  }
}

const TOOLS = [
  ['GraphiQL', '/graphql'],
  ['API reference', '/docs'],
] as const;

/** Saves forge settings, so that the page subscribes to the board. */
async function saveSettings(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await fetch('/api/settings', { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{}' });
  });
  // The first refresh would replace the board that is saved below.
  await page.waitForTimeout(SETTLE_MS);
}

/** Saves a board as a refresh would. */
function saveBoard(state: string, pullRequests: number): void {
  const database = new DatabaseSync(path.join(state, 'trellis.db'));
  const snapshot = JSON.stringify(makeBoard({ repositories: 3 * Math.ceil(pullRequests / 60), pullRequests }));
  const sql = `INSERT INTO boards (person_id, generated_at, snapshot, changes)
    SELECT id, CAST(unixepoch('subsec') * 1000 AS INTEGER), ?, '{}' FROM people WHERE true
    ON CONFLICT (person_id) DO UPDATE SET generated_at = excluded.generated_at, snapshot = excluded.snapshot`;
  database.exec('PRAGMA busy_timeout = 5000');
  database.prepare(sql).run(snapshot);
  database.close();
}

interface Marks {
  readonly paintMs: number;
  readonly shift: number;
  readonly bytes: number;
  readonly scriptBytes: number;
}

interface Measured {
  readonly first: Marks;
  readonly second: Marks;
  readonly isRestored: boolean;
  readonly interactions: readonly number[];
  readonly frames: readonly number[];
}

/** Runs in the page ahead of its own scripts. */
function watch(): void {
  const marks = { paintMs: 0, shift: 0, interactions: [] as number[] };
  Object.assign(window, { marks });
  const observe = (type: string, each: (entry: never) => void, more: object = {}): void =>
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => each(entry as never))).observe({
      type,
      buffered: true,
      ...more,
    });
  observe('largest-contentful-paint', ({ startTime }: PerformanceEntry) => (marks.paintMs = startTime));
  observe('layout-shift', (entry: { hadRecentInput: boolean; value: number }) => {
    if (!entry.hadRecentInput) marks.shift += entry.value;
  });
  const byId = new Map<number, number>();
  observe(
    'event',
    ({ interactionId, duration }: { interactionId: number; duration: number }) => {
      if (interactionId === 0) return;
      byId.set(interactionId, Math.max(duration, byId.get(interactionId) ?? 0));
      marks.interactions = [...byId.values()];
    },
    { durationThreshold: 16 },
  );
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) sessionStorage.setItem('restored', 'true');
  });
}

async function openPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', SLOW_4G);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  // The compiler of this file calls a helper that pages lack.
  await page.addInitScript('globalThis.__name = (one) => one');
  await page.addInitScript(watch);
  page.on('pageerror', (error) => process.stderr.write(`${error.message}\n`));
  return page;
}

/** Waits without a script in the page, which would be measured too. */
async function load(page: Page, address: string, loadMs: number): Promise<Marks> {
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForTimeout(loadMs);
  return page.evaluate((): Marks => {
    const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const [document] = performance.getEntriesByType('navigation') as PerformanceResourceTiming[];
    const sum = (entries: readonly PerformanceResourceTiming[]): number =>
      entries.reduce((all, { transferSize }) => all + transferSize, 0);
    const { marks } = window as unknown as { marks: { paintMs: number; shift: number } };
    const scriptBytes = sum(resources.filter(({ name }) => name.endsWith('.js')));
    return { ...marks, bytes: sum([...resources, ...(document ? [document] : [])]), scriptBytes };
  });
}

/** Loads a board with an empty cache, uses and scrolls it, leaves it and comes back, and loads it again. */
async function measureBoard(context: BrowserContext, origin: string, loadMs: number): Promise<Measured> {
  const page = await openPage(context);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.clearBrowserCache');
  const first = await load(page, origin, loadMs);
  await page.locator('.pull').first().waitFor();
  await useBoard(page);
  const interactions = await page.evaluate(
    () => (window as unknown as { marks: { interactions: number[] } }).marks.interactions,
  );
  const frames = await scroll(page);
  await page.goto(`${origin}/docs`, { waitUntil: 'commit' });
  await page.waitForTimeout(SETTLE_MS);
  // A restored document starts no new one, for which "goBack" would wait.
  await page.evaluate(() => history.back());
  await page.waitForTimeout(2 * SETTLE_MS);
  const isRestored = await page.evaluate(() => sessionStorage.getItem('restored') === 'true');
  await page.close();
  const again = await openPage(context);
  const second = await load(again, origin, loadMs);
  await again.close();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return { first, second, isRestored, interactions, frames };
}

/** Taps the middle of an element. It is found before, as the search would delay the tap in the page. */
async function tap(page: Page, found: Locator): Promise<void> {
  await found.scrollIntoViewIfNeeded();
  const box = await found.boundingBox();
  if (box === null) throw new Error('An element to tap is not on the page.');
  await page.waitForTimeout(300);
  await page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForTimeout(300);
}

/** The main interactions with a board, each at the pace of a hand. */
async function useBoard(page: Page): Promise<void> {
  const press = (name: string): Promise<void> => tap(page, page.getByRole('button', { name, exact: true }).first());
  const key = async (one: string): Promise<void> => {
    await page.keyboard.press(one);
    await page.waitForTimeout(300);
  };
  await press('Filters');
  await press('Failing CI');
  await press('All');
  await press('Filters');
  await tap(page, page.getByPlaceholder('Search pull requests'));
  for (const letter of 'tax') await key(letter);
  for (let index = 0; index < 3; index += 1) await key('Backspace');
  const row = page.locator('.pull').nth(1);
  await tap(page, row.getByRole('checkbox'));
  await tap(page, row.getByRole('checkbox'));
  await tap(page, row.locator('summary'));
  await key('Escape');
  await tap(page, row.locator('.where'));
  await key('Escape');
  await key('j');
  await key('k');
}

/** Scrolls as a thumb does for some seconds; returns the duration of each frame, sorted. */
function scroll(page: Page): Promise<number[]> {
  return page.evaluate(
    () =>
      new Promise<number[]>((resolve) => {
        const frames: number[] = [];
        let last = performance.now();
        const step = (now: number): void => {
          frames.push(now - last);
          last = now;
          window.scrollBy(0, 60);
          if (frames.length < 300) requestAnimationFrame(step);
          else resolve(frames.slice(1).sort((a, b) => a - b));
        };
        requestAnimationFrame(step);
      }),
  );
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);

const at = (numbers: readonly number[], part: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? 0;

const medianAndWorst = (numbers: readonly number[]): string =>
  `${at(numbers, 0.5).toFixed(0)}, ${Math.max(...numbers).toFixed(0)}`;

function summarizeLoads(rounds: readonly Measured[]): string[] {
  const first = rounds.map((round) => round.first);
  return [
    kilobytes(
      at(
        first.map(({ bytes }) => bytes),
        0.5,
      ),
    ),
    kilobytes(
      at(
        first.map(({ scriptBytes }) => scriptBytes),
        0.5,
      ),
    ),
    medianAndWorst(first.map(({ paintMs }) => paintMs)),
    Math.max(...first.map(({ shift }) => shift)).toFixed(4),
    medianAndWorst(rounds.map(({ second }) => second.paintMs)),
    rounds.every(({ isRestored }) => isRestored) ? 'from the cache' : 'loads',
  ];
}

function summarizeMoves(rounds: readonly Measured[]): string[] {
  const interactions = rounds.flatMap((round) => round.interactions);
  const frames = rounds.flatMap((round) => round.frames);
  return [
    String(interactions.length),
    at(interactions, 0.5).toFixed(0),
    at(interactions, INP_PART).toFixed(0),
    Math.max(0, ...interactions).toFixed(0),
    String(frames.length),
    String(frames.filter((ms) => ms > LATE_MS).length),
  ];
}

/** Returns the compressed bytes of a tool that were received before its first paint, and in all. */
async function measureTool(context: BrowserContext, address: string, loadMs: number): Promise<string[]> {
  const page = await openPage(context);
  await (await context.newCDPSession(page)).send('Network.clearBrowserCache');
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForTimeout(loadMs);
  const { early, all, paint } = await page.evaluate(() => {
    const first = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;
    const entries = [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ] as PerformanceResourceTiming[];
    const sum = (chosen: readonly PerformanceResourceTiming[]): number =>
      chosen.reduce((bytes, { encodedBodySize }) => bytes + encodedBodySize, 0);
    return { early: sum(entries.filter(({ responseEnd }) => responseEnd <= first)), all: sum(entries), paint: first };
  });
  await page.close();
  return [kilobytes(early), kilobytes(all), paint.toFixed(0)];
}
