import type { Page } from 'playwright-core';
import { eventually } from '../../eventually.js';
import { CONFIRM_DELAY_MS } from './page-actions.js';

/** More than the tab stops of any page. */
const MAX_STOPS = 120;

/** The focused element may be removed while its name is read. */
const SNAPSHOT_MS = 2_000;

/** The actions of a user without a mouse. Everything is done by key presses: nothing is clicked or focused directly. */
export interface Keyboard {
  /** Presses keys one after the other, such as `Tab`, `Enter`, `Shift+Tab` or `j`. */
  readonly press: (...keys: string[]) => Promise<void>;
  /** Replaces the text of the focused field. */
  readonly type: (text: string) => Promise<void>;
  /** Returns role and accessible name of the focused element, such as `button "Save"`; empty without focus. */
  readonly focused: () => Promise<string>;
  /** Waits until the element with this role and name is focused, such as the heading of a page that opens. */
  readonly arriveAt: (name: string) => Promise<void>;
  /**
   * Waits until the page shows an element and presses Tab until it is focused; the error lists all tab stops passed.
   */
  readonly tabTo: (name: string) => Promise<void>;
  /** Moves to a button, link or disclosure with Tab and presses it. */
  readonly pressOn: (name: string) => Promise<void>;
  /** Presses a button and confirms. */
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
    const snapshot = await holder.ariaSnapshot({ timeout: SNAPSHOT_MS }).catch(() => '');
    return snapshot.split('\n')[0] ?? '';
  }

  const arriveAt = (name: string): Promise<void> => eventually(async () => expect(await focused()).toContain(name));

  async function tabTo(name: string): Promise<void> {
    await eventually(async () => expect(await page.locator('body').ariaSnapshot()).toContain(name));
    const seen: string[] = [];
    for (let stop = 0; stop < MAX_STOPS; stop += 1) {
      await press('Tab');
      const reached = await focused();
      seen.push(reached);
      if (reached.includes(name)) return;
    }
    throw new Error(`Tab did not reach ${name}. Tab stops: ${seen.join(' | ')}.`);
  }

  async function pressOn(name: string): Promise<void> {
    await tabTo(name);
    await press('Enter');
  }

  async function confirm(name: string): Promise<void> {
    await pressOn(name);
    await page.waitForTimeout(CONFIRM_DELAY_MS);
    await press('Enter');
  }

  return { press, type, focused, arriveAt, tabTo, pressOn, confirm };
}
