import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';

const SIZES = [
  { width: 1200, height: 850 },
  { width: 390, height: 844 },
];

/** A rule that can't hold at a place, as its markup is another program's. */
export interface Exception {
  readonly rule: string;
  /** A part of axe's selector of the place. */
  readonly at: string;
}

/** What differs from theme to theme; all else is looked at in the light one alone. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Holds what a page shows now to axe's rules, best practices included, in both
 * themes, as on a desk and on a phone. The page has its own size and theme again afterwards.
 */
export async function expectAccessible(page: Page, except: readonly Exception[] = []): Promise<void> {
  const size = page.viewportSize();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const viewport of SIZES) {
      await page.setViewportSize(viewport);
      // What is drawn anew while it is looked at, as editors are, makes axe fail.
      await eventually(async () => {
        const violations = await findViolations(page, except);
        found.push(...violations.map((violation) => `${colorScheme}, ${viewport.width} px: ${violation}`));
      });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  if (size !== null) await page.setViewportSize(size);
  expect(found).toEqual([]);
}

async function findViolations(page: Page, except: readonly Exception[]): Promise<string[]> {
  await loadAxe(page);
  const { violations } = await page.evaluate((rules) => {
    const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
    // Without reading style sheets again, which would be requests that the page does not make.
    const options: axe.RunOptions = { preload: false, resultTypes: ['violations'] };
    const asked = isDark ? { ...options, runOnly: { type: 'rule' as const, values: rules } } : options;
    return (window as unknown as { axe: typeof axe }).axe.run(document, asked);
  }, OF_COLOURS);
  return violations.flatMap(({ id, nodes }) =>
    nodes
      .map(({ target, failureSummary }) => ({ place: target.join(' '), failureSummary }))
      .filter(({ place }) => !except.some(({ rule, at }) => rule === id && place.includes(at)))
      .map(({ place, failureSummary }) => `${id} at ${place}: ${failureSummary}`),
  );
}

/** By the debugger, which the policy of the page does not bind. */
async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in window)) return;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Runtime.evaluate', { expression: axe.source });
  // Not detached: that would take the page's virtual authenticators away.
}
