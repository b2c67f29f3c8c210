import type { Page } from 'playwright-core';
import { eventually } from '../eventually.js';
import { DEAF_MS } from './acts.js';

/** More stops than any page has. */
const MOST_STOPS = 120;

/** What has the focus may go while it is looked at. */
const LOOK_MS = 2_000;

/** What a person without a mouse does at a page; nothing here clicks, fills in, or moves the focus by itself. */
export interface Keyboard {
  /** Presses keys one after the other, as `Tab`, `Enter`, `Shift+Tab`, `j`. */
  readonly press: (...keys: string[]) => Promise<void>;
  /** Types into what has the focus, over what stands there. */
  readonly type: (text: string) => Promise<void>;
  /** The role and the name that a screen reader says of what has the focus, as `button "Save"`; '' where nothing has it. */
  readonly focused: () => Promise<string>;
  /** Waits until what is called so has the focus, as the heading of a page has when the page is come to. */
  readonly arriveAt: (name: string) => Promise<void>;
  /** Waits until the page shows what is called so, and goes on to it by Tab; fails with all that it came past. */
  readonly tabTo: (name: string) => Promise<void>;
  /** Goes on by Tab to a button, link or disclosure, and presses it. */
  readonly pressOn: (name: string) => Promise<void>;
  /** Presses a button that asks whether that was meant, and says yes. */
  readonly confirm: (name: string) => Promise<void>;
}

export function createKeyboard(page: Page): Keyboard {
  async function press(...keys: string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }

  async function type(text: string): Promise<void> {
    await press('ControlOrMeta+a');
    await page.keyboard.insertText(text);
  }

  async function focused(): Promise<string> {
    const holder = page.locator(':focus');
    if ((await holder.count()) === 0) return '';
    const snapshot = await holder.ariaSnapshot({ timeout: LOOK_MS }).catch(() => '');
    return snapshot.split('\n')[0] ?? '';
  }

  const arriveAt = (name: string): Promise<void> => eventually(async () => expect(await focused()).toContain(name));

  async function tabTo(name: string): Promise<void> {
    await eventually(async () => expect(await page.locator('body').ariaSnapshot()).toContain(name));
    const seen: string[] = [];
    for (let stop = 0; stop < MOST_STOPS; stop += 1) {
      await press('Tab');
      const reached = await focused();
      seen.push(reached);
      if (reached.includes(name)) return;
    }
    throw new Error(`Expected the keyboard to reach ${name}; it came past ${seen.join(' | ')}.`);
  }

  async function pressOn(name: string): Promise<void> {
    await tabTo(name);
    await press('Enter');
  }

  async function confirm(name: string): Promise<void> {
    await pressOn(name);
    await page.waitForTimeout(DEAF_MS);
    await press('Enter');
  }

  return { press, type, focused, arriveAt, tabTo, pressOn, confirm };
}
