import { readFileSync } from 'node:fs';
import path from 'node:path';
import { RULES } from './rules.js';

const ROOT = path.join(import.meta.dirname, '../..');

/** Reports whether a file contains a title, between single or double quotes. */
function hasTest(text: string, title: string): boolean {
  return text.includes(title) || text.includes(title.replaceAll("'", "\\'"));
}

test(`each of the ${RULES.length} rules of the secrets service names an existing test`, () => {
  const texts = new Map(RULES.map(({ file }) => [file, readFileSync(path.join(ROOT, file), 'utf8')]));
  expect(RULES.filter(({ file, test: title }) => !hasTest(texts.get(file)!, title))).toEqual([]);
});

test('no rule is listed twice', () => {
  const rules = RULES.map(({ about, rule }) => `${about}: ${rule}`);
  expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([]);
});
