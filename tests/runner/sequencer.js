import { createHash } from 'node:crypto';
import process from 'node:process';

/** Folders whose files take longest, so that workers do not wait for one of them at the end. */
const FIRST = [
  '/tests/e2e/',
  '/tests/project/',
  '/tests/codegen/',
  '/tests/fuzz/',
  '/tests/workers/',
  '/tests/images/',
  '/packages/images/',
  '/tests/contract/',
  '/tests/deploy/',
  '/tests/site-index/',
  '/tests/dashboard/refresh/',
  '/tests/conformance/',
  '/tests/client/',
  '/packages/site/tests/sources/content/',
  '/tests/site/watch/',
  '/tests/dashboard/pull-requests/',
];

/**
 * Decides the order of the test files. As a worker loads the application once, no file may depend on those before it:
 * `FILE_ORDER=1 npm test`, or any other text, runs them in another order.
 */
export default class Sequencer {
  sort(tests) {
    const order = process.env.FILE_ORDER;
    const rank = ({ path }) => {
      if (order)
        return createHash('sha256')
          .update(order + path)
          .digest('hex');
      const room = FIRST.findIndex((folder) => path.includes(folder));
      // Of equal length, as they are compared as texts.
      return `${String(room < 0 ? FIRST.length : room).padStart(3, '0')} ${path}`;
    };
    return tests
      .map((test) => [rank(test), test])
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, test]) => test);
  }

  cacheResults() {}
}
