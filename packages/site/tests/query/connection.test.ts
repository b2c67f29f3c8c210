import { AppError } from '@trellis/core/errors';
import { pageInfo, parsePage } from '../../src/query/connection.js';

test.each([
  [
    'no limit',
    10,
    {},
    { currentPage: 1, pageCount: 1, itemCount: 10, perPage: null, hasNextPage: false, hasPreviousPage: false },
  ],
  [
    'a skip that is not a multiple of the limit',
    10,
    { limit: 3, skip: 4 },
    { currentPage: 3, pageCount: 4, itemCount: 3, perPage: 3, hasNextPage: true, hasPreviousPage: true },
  ],
  [
    'past the end',
    10,
    { limit: 3, skip: 10 },
    { currentPage: 5, pageCount: 4, itemCount: 0, hasNextPage: false, hasPreviousPage: true },
  ],
  ['far past the end', 10, { limit: 3, skip: 50 }, { currentPage: 18, pageCount: 4, itemCount: 0 }],
  ['a skip alone', 10, { skip: 4 }, { currentPage: 2, pageCount: 2, itemCount: 6, hasPreviousPage: true }],
  ['exactly one page', 10, { limit: 10 }, { currentPage: 1, pageCount: 1, hasNextPage: false }],
  ['a limit of 0', 10, { limit: 0 }, { currentPage: 1, pageCount: 1, itemCount: 0, perPage: 0, hasNextPage: false }],
  ['a limit of 0 after a skip', 10, { limit: 0, skip: 2 }, { currentPage: 2, pageCount: 2, itemCount: 0, perPage: 0 }],
  ['an empty result', 0, {}, { currentPage: 1, pageCount: 1, itemCount: 0 }],
  ['an empty result with a limit', 0, { limit: 2 }, { currentPage: 1, pageCount: 0, itemCount: 0 }],
  ['an empty result after a skip', 0, { limit: 2, skip: 2 }, { currentPage: 2, pageCount: 0 }],
  ['null arguments count as absent', 10, { limit: null, skip: null }, { currentPage: 1, itemCount: 10, perPage: null }],
])('pageInfo: %s', (_reason, count, page, expected) => {
  expect(pageInfo(parsePage(page), count)).toMatchObject(expected);
});

test.each(['limit', 'skip'])('parsePage: rejects a negative %s by name', (name) => {
  const message = `Expected ${name} to be 0 or more; received -1.`;
  expect(() => parsePage({ [name]: -1 })).toThrow(new AppError('invalid_input', message, { field: name }));
});
