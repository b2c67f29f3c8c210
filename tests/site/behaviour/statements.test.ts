import { readFileSync } from 'node:fs';
import path from 'node:path';
import { STATEMENTS } from './statements.js';

const ROOT = path.join(import.meta.dirname, '../../..');

const texts = new Map<string, string>();

function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(path.join(ROOT, file), 'utf8');
  texts.set(file, text);
  return text;
}

test(`each of the ${STATEMENTS.length} statements about queries names an existing test`, () => {
  const missing = STATEMENTS.filter(({ file, test: name }) => !textOf(file).includes(name));
  expect(missing).toEqual([]);
});

test('statements about queries are unique', () => {
  const known = STATEMENTS.map(({ about, statement }) => `${about}: ${statement}`);
  expect(known.filter((one, place) => known.indexOf(one) !== place)).toEqual([]);
});

test.each(['filters', 'sorting', 'pages'])('every case of %s.test.ts is a statement', (name) => {
  const file = `tests/site/behaviour/${name}.test.ts`;
  const listed = STATEMENTS.filter((one) => one.file === file).map((one) => one.test);
  const cases = [...textOf(file).matchAll(/^ {2,4}(?:\[\s*|test(?:\.each\(\[.*\]\))?\(\s*)'([^'%][^']*)',/gm)].map(
    ([, title]) => title,
  );
  expect(cases.length).toBeGreaterThan(20);
  expect(cases.filter((title) => !listed.includes(title ?? ''))).toEqual([]);
});
