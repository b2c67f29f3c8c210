import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { chromium, type BrowserContext, type CDPSession, type Page } from 'playwright-core';
import { signUp } from '../tests/e2e/support/sign-up.js';
import { collect, runCli, untilPrinted } from '../tests/running-server.js';
import { makeBoard } from './make-board.js';
import { toTable } from './table.js';

/** A phone: its screen, and a processor that is four times slower. */
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 3, isMobile: true, hasTouch: true };
const SLOWDOWN = 4;

/** Milliseconds for the server after a page was closed, as the page then sends which rows were seen. */
const SETTLE_MS = 2_000;

/** Milliseconds after which every load is complete. */
const LOAD_MS = 4_000;

/** Milliseconds above which a frame was missed at 60 per second: one and a half frames, as their clocks jitter. */
const LATE_MS = 25;

/** Measures the first load of a board on a phone, and its scrolling. */
export async function benchPages({
  rounds,
  rows: large,
}: {
  readonly rounds: number;
  readonly rows: number;
}): Promise<string> {
  const state = await mkdtemp(path.join(tmpdir(), 'trellis-bench-pages-'));
  const server = runCli(['serve', '--port', '0', '--state', state, '--services', 'dashboard'], {
    NODE_ENV: 'production',
  });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const output = collect(server);
    await untilPrinted(output, 'setup-link');
    const link = (await readFile(path.join(state, 'setup-link'), 'utf8')).trim();
    const context = await browser.newContext(PHONE);
    const page = await context.newPage();
    await signUp(page, link, 'ada');
    await saveSettings(page);
    await page.close();
    const rows: string[][] = [];
    for (const count of [60, large]) {
      saveBoard(state, count);
      for (let round = 0; round < rounds; round += 1) rows.push(await measure(context, new URL(link).origin, count));
    }
    const head = ['pull requests', 'JavaScript', 'largest paint', 'layout shift', 'frames', 'late', 'median', '99th'];
    return toTable(head, rows);
  } finally {
    await browser.close();
    server.kill('SIGKILL');
    await rm(state, { recursive: true, force: true });
  }
}

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
  readonly scriptBytes: number;
}

/** Runs in the page ahead of its own scripts. */
function watch(): void {
  const marks = { paintMs: 0, shift: 0 };
  Object.assign(window, { marks });
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) marks.paintMs = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { hadRecentInput: boolean; value: number })[]) {
      if (!entry.hadRecentInput) marks.shift += entry.value;
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

async function measure(context: BrowserContext, origin: string, count: number): Promise<string[]> {
  const page = await context.newPage();
  const devtools: CDPSession = await context.newCDPSession(page);
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  // The compiler of this file calls a helper that pages lack.
  await page.addInitScript('globalThis.__name = (one) => one');
  await page.addInitScript(watch);
  page.on('pageerror', (error) => process.stderr.write(`${error.message}\n`));
  await page.goto(origin);
  // Waiting for an element would run a script in the page, which would be measured too.
  await page.waitForTimeout(LOAD_MS);
  await page.locator('li.pull').first().waitFor();
  const marks = await page.evaluate((): Marks => {
    const scripts = (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter(({ name }) =>
      name.endsWith('.js'),
    );
    const scriptBytes = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    return { ...(window as unknown as { marks: Omit<Marks, 'scriptBytes'> }).marks, scriptBytes };
  });
  const frames = await scroll(page);
  await page.close();
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const at = (part: number): string => `${(frames[Math.floor(frames.length * part)] ?? 0).toFixed(1)} ms`;
  return [
    String(count),
    `${(marks.scriptBytes / 1000).toFixed(1)} kB`,
    `${marks.paintMs.toFixed(0)} ms`,
    marks.shift.toFixed(4),
    String(frames.length),
    String(frames.filter((ms) => ms > LATE_MS).length),
    at(0.5),
    at(0.99),
  ];
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
