import { readFile } from 'node:fs/promises';
import { readFormRows } from '../project/form-rows.js';
import { createListErrors } from './form-errors.js';

const rows = readFormRows(await readFile('docs/gatsby.md', 'utf8'), 'Types and directives');

/** Types that forms refer to. */
const listErrors = await createListErrors({
  Author: 'type Author implements Node @record { email: String }',
  Post: 'type Post implements Node @record { author: Author @link(to: "email") }',
});

const isDefinition = (form: string): boolean => /^(?:extend |interface |type )/u.test(form);

test('docs/gatsby.md has a table of types', () => {
  expect(rows.length).toBeGreaterThan(10);
});

test.each(rows.flatMap(({ other }) => other.filter(isDefinition)))('the type of Gatsby is an error: %s', (form) => {
  expect(listErrors(form)).not.toEqual([]);
});

test.each(rows.flatMap(({ trellis }) => trellis.filter(isDefinition)))('the type of Trellis is valid: %s', (form) => {
  expect(listErrors(form)).toEqual([]);
});
