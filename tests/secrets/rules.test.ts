import { readFileSync } from 'node:fs';
import path from 'node:path';
import { RULES } from './rules.js';

const TESTS = path.join(import.meta.dirname, '..');

/** As titles stand between quotes of one kind or another. */
function hasTest(text: string, title: string): boolean {
  return text.includes(title) || text.includes(title.replaceAll("'", "\\'"));
}

test(`each of the ${RULES.length} rules of the secrets names a test that is there`, () => {
  const texts = new Map(RULES.map(({ file }) => [file, readFileSync(path.join(TESTS, file), 'utf8')]));
  expect(RULES.filter(({ file, test: title }) => !hasTest(texts.get(file)!, title))).toEqual([]);
});

test('no rule stands twice', () => {
  const known = RULES.map(({ about, rule }) => `${about}: ${rule}`);
  expect(known.filter((one, place) => known.indexOf(one) !== place)).toEqual([]);
});
