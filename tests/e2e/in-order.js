import { TestEnvironment } from 'jest-environment-node';

/** Where `chromium.ts` leaves what tells of the pages that are open. */
const TELL = Symbol.for('trellis.tell-pages');

/**
 * Tests of one file in a browser go on from each other: once one has failed the
 * rest would fail of it, minute by minute, and is left out. What failed is told
 * with what its pages showed then. Other files run as ever.
 */
export default class InOrder extends TestEnvironment {
  #isJourney;
  #hasFailed = false;

  constructor(config, context) {
    super(config, context);
    this.#isJourney = context.testPath.includes('/tests/e2e/');
  }

  async handleTestEvent({ name, test, error }) {
    if (!this.#isJourney) return;
    if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
    if (name !== 'test_fn_failure' && name !== 'hook_failure') return;
    if (!this.#hasFailed) await this.#addPages(error);
    this.#hasFailed = true;
  }

  async #addPages(error) {
    if (typeof error?.stack !== 'string') return;
    const told = await this.global[TELL]?.();
    if (told) error.stack += `\n\n${told}`;
  }
}
