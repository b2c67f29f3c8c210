import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { eventually } from '../../eventually.js';

const SIZES = [
  { width: 1200, height: 850 },
  { width: 390, height: 844 },
];

/** A violation to ignore, because the markup belongs to a third-party tool. */
export interface AxeException {
  readonly rule: string;
  /** A part of axe's selector of the element. */
  readonly at: string;
}

/** The rules that depend on the theme; the others are checked in the light theme only. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/**
 * Checks the current state of a page against axe's rules, including best practices, in both themes and in a desktop and
 * a phone size. Restores size and theme of the page afterwards.
 */
export async function expectAccessible(page: Page, except: readonly AxeException[] = []): Promise<void> {
  const size = page.viewportSize();
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const viewport of SIZES) {
      await page.setViewportSize(viewport);
      // Elements that are redrawn during a run, such as editors, make axe fail.
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

/** Returns the violations of axe’s rules in the current state of a page. */
export async function findViolations(page: Page, except: readonly AxeException[]): Promise<string[]> {
  await loadAxe(page);
  const { violations } = await page.evaluate((rules) => {
    const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
    // Preloading would request the style sheets again, and tests count the page's requests.
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

/** Loads axe through the debugger, to which the content security policy of the page does not apply. */
async function loadAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in window)) return;
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Runtime.evaluate', { expression: axe.source });
  // Detaching the session would remove the page's virtual authenticators.
}
