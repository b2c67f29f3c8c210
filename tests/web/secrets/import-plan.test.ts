import { parseEnv } from 'node:util';
import { parse } from 'dotenv';
import { parseEnvFile } from '../../../src/sealing/env-file.js';
import { describePlan, planImport } from '../../../src/web/app/secrets/import-plan.js';
import type { ObjectMetadata } from '../../../src/web/app/secrets/metadata.js';

const object = (slug: string, usedBy: string[] = []): ObjectMetadata => ({
  ...{ id: `id of ${slug} ${usedBy.join()}`, slug, tags: [] },
  ...(usedBy.length > 0 && { used_by: usedBy }),
});

const plan = (text: string, options: Partial<Parameters<typeof planImport>[1]> = {}) =>
  planImport(parseEnvFile(text), { naming: 'as-is', usedBy: [], objects: [], ...options });

describe('parseEnvFile', () => {
  const KEY =
    'KEY="-----BEGIN KEY-----\nabcd\n-----END KEY-----"\nexport PLAIN=two words # comment\nQUOTED=\'a # b\'\n';

  test('returns the values that dotenv and Node return', () => {
    const { entries, ignoredLines } = parseEnvFile(KEY);
    expect(Object.fromEntries(entries)).toEqual(parse(KEY));
    expect(Object.fromEntries(entries)).toEqual({ ...parseEnv(KEY) });
    expect(ignoredLines).toEqual([]);
  });

  test('reports the lines that set no variable', () => {
    expect(parseEnvFile('# note\n\nA=1\nnot a variable\r\n=2\nB: 3\n').ignoredLines).toEqual([4, 5]);
  });

  test('reports the variables with a value that a # ends without a space', () => {
    const cut = 'A=pa#ss\nexport B = x#y # z\nC=#fff\nD="open#\nE: a"b"#c\n';
    const whole = 'F=pa #ss\nG="pa#ss"\nH= # none\nI=\'a#b\' #c\nJ="#\nK=1#2\n"\n#L=1#2\nM=`#`#\n';
    expect(parseEnvFile(cut + whole).cutVariables).toEqual(['A', 'B', 'C', 'D', 'E']);
  });
});

describe('planImport', () => {
  test('distinguishes new, existing and invalid names', () => {
    const found = plan('DB=1\nMAIL=2\n_A=3\nA.B=4\nNONE=\nSEALED=age:YWJj\n', { objects: [object('MAIL')] });
    expect(found.map(({ slug, state }) => `${slug} ${state}`)).toEqual([
      ...['DB new', 'MAIL exists', '_A invalid', 'A.B invalid', 'NONE invalid', 'SEALED invalid'],
    ]);
    expect(describePlan(found)).toBe('1 new, 1 existing, 4 invalid');
  });

  test('changes names to lower case with hyphens, and reports two variables of one name', () => {
    const found = plan('DB_URL=1\ndb-url=2\n', { naming: 'kebab', objects: [object('db-url')] });
    expect(found).toMatchObject([
      { variable: 'DB_URL', slug: 'db-url', state: 'exists' },
      { variable: 'db-url', state: 'invalid', problem: 'DB_URL has the same name' },
    ]);
  });

  test.each([
    ['one variant of the consumers', ['b'], 'exists', undefined],
    ['no variant of the consumers', ['c'], 'new', undefined],
    ['several variants', [], 'invalid', 'several variants share this name'],
  ])('chooses among variants: %s', (_case, usedBy, state, problem) => {
    const objects = [object('DB', ['a']), object('DB', ['b'])];
    expect(plan('DB=1', { usedBy, objects })).toMatchObject([{ state, ...(problem && { problem }) }]);
  });
});
