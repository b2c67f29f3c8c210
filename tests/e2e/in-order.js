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
    if (!this.#hasFailed) addPages(await this.global[TELL]?.(), error, test);
    // Where no test could begin all of them fail at once, and must not pass for left out.
    if (test !== undefined) this.#hasFailed = true;
  }
}

function addPages(told, error, test) {
  if (!told) return;
  if (typeof error?.stack === 'string') error.stack += `\n\n${told}`;
  // Of a test that took too long there is but a sentence, which is kept beside where the test is.
  const kept = test?.errors.at(-1);
  if (typeof error === 'string' && Array.isArray(kept)) kept[0] = `${error}\n\n${told}`;
}
