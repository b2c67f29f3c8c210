import SharedRealm from '../../runner/environment.js';

/** The global function of `chromium.ts` that describes the open pages. */
const DESCRIBE_PAGES = Symbol.for('trellis.describe-pages');

/**
 * The environment of browser tests, in which each test continues from the state of the previous one. After a failure
 * the remaining tests of the file are skipped, as they would fail too, each after a long timeout. The error of the
 * failed test gets a description of the open pages.
 */
export default class InOrder extends SharedRealm {
  #hasFailed = false;

  async handleTestEvent({ name, test, error }) {
    if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
    if (name !== 'test_fn_failure' && name !== 'hook_failure') return;
    if (!this.#hasFailed) addPages(await this.global[DESCRIBE_PAGES]?.(), error, test);
    // A failure before the first test fails all of them; they must not count as skipped.
    if (test !== undefined) this.#hasFailed = true;
  }

  async teardown() {
    Reflect.deleteProperty(this.global, DESCRIBE_PAGES);
    await super.teardown();
  }
}

function addPages(description, error, test) {
  if (!description) return;
  if (typeof error?.stack === 'string') error.stack += `\n\n${description}`;
  // The error of a timeout is a string, which Jest stores in the test together with an error for its position.
  const entry = test?.errors.at(-1);
  if (typeof error === 'string' && Array.isArray(entry)) entry[0] = `${error}\n\n${description}`;
}
