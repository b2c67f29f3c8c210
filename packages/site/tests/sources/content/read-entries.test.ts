import { ContentError } from '../../../src/sources/content/content-entry.js';
import { readEntries } from '../../../src/sources/content/read-entries.js';

const valuesOf = (text: string, extension: string) => readEntries(text, extension).map(({ values }) => values);

test.each([
  [
    'Markdown with front matter',
    'md',
    '---\ntitle: Soup\ntags: [warm]\n---\nBoil.\n',
    [{ title: 'Soup', tags: ['warm'] }],
  ],
  [
    'Markdown with front matter in TOML',
    'md',
    '+++\r\ntitle = "Soup"\ndate = 2026-07-04T10:00:00+02:00\n[params]\nserves = 4\n+++\nBoil.\n',
    [{ title: 'Soup', date: '2026-07-04T10:00:00+02:00', params: { serves: 4 } }],
  ],
  [
    'TOML',
    'toml',
    'day = 2026-07-04\nat = 2026-07-04 10:00:00\nhour = 10:00:00\n"a.b" = [1.5, inf]\n[[authors]]\nname = "Ada"\n',
    [
      {
        ...{ day: '2026-07-04', at: '2026-07-04T10:00:00', hour: '10:00:00', 'a.b': [1.5, Infinity] },
        authors: [{ name: 'Ada' }],
      },
    ],
  ],
  [
    'TOML with days that do not exist',
    'toml',
    'a = 2023-02-29\nb = 2023-04-31T23:30:00-05:00\nc = 2023-05-02\n',
    [{ a: '2023-02-29', b: '2023-04-31T23:30:00-05:00', c: '2023-05-02' }],
  ],
  ['TOML with comments only', 'toml', '# nothing yet\n', []],
  ['Markdown with empty front matter in TOML', 'md', '+++\n+++\nBoil.\n', [{}]],
  ['Markdown that begins with plus signs only', 'md', '+++\n\nBoil.\n', [{}]],
  ['Markdown without front matter', 'md', 'Boil.\n', [{}]],
  ['Markdown with empty front matter', 'md', '---\n---\nBoil.\n', [{}]],
  ['Markdown with CRLF line ends', 'md', '---\r\ntitle: Soup\r\n---\r\nBoil.\r\n', [{ title: 'Soup' }]],
  ['a JSON object', 'json', '{"a": 1}', [{ a: 1 }]],
  ['a JSON list', 'json', '[{"a": 1}, {"a": 2}]', [{ a: 1 }, { a: 2 }]],
  ['a byte order mark', 'json', '\uFEFF{"a": 1}', [{ a: 1 }]],
  ['a YAML document', 'yaml', 'a: 1\nb: yes\n', [{ a: 1, b: 'yes' }]],
  ['a YAML stream', 'yml', 'a: 1\n---\na: 2\n', [{ a: 1 }, { a: 2 }]],
  [
    'merge keys',
    'yaml',
    'base: &base { a: 1, b: 2 }\nother: &other { b: 3, c: 4 }\none: { <<: *base, b: 5 }\nboth:\n  d: 6\n  <<: [*base, *other]\n',
    [
      {
        ...{ base: { a: 1, b: 2 }, other: { b: 3, c: 4 } },
        ...{ one: { a: 1, b: 5 }, both: { d: 6, a: 1, b: 2, c: 4 } },
      },
    ],
  ],
  ['an empty file', 'yaml', '# nothing yet\n', []],
  [
    'flow collections with tabs or without indentation',
    'yaml',
    'tags: [\n\t"a",\n\t{ b:\n\tc }\n]\nsite:\n  - menu: {\ntitle: T,\n\n# none\nitems: [\n1 ]\n}\nlast: |\n  [\n  ]\n',
    [{ tags: ['a', { b: 'c' }], site: [{ menu: { title: 'T', items: [1] } }], last: '[\n]\n' }],
  ],
  [
    'text in quotes with lines without indentation',
    'yaml',
    "one: 'It''s,\nby\n\n\tAda'\nlist:\n  - \"two \\\nparts\"\n  - ['a\nb', \"c\n\nd\"]\nlast: 1\n",
    [{ one: "It's, by\nAda", list: ['two parts', ['a b', 'c\nd']], last: 1 }],
  ],
  [
    'CSV rows',
    'csv',
    'name,count\nfig,3\nplum,\n"a, b",5\n',
    [{ name: 'fig', count: '3' }, { name: 'plum' }, { name: 'a, b', count: '5' }],
  ],
  [
    'CSV with semicolons',
    'csv',
    'name;tags;price\r\nfig;"dry;sweet";"1,5"\r\nplum;;2\r\n',
    [
      { name: 'fig', tags: 'dry;sweet', price: '1,5' },
      { name: 'plum', price: '2' },
    ],
  ],
  [
    'CSV with tabs',
    'csv',
    '\n\nname\tcount\nfig\t\nplum; pear\t3\n',
    [{ name: 'fig' }, { name: 'plum; pear', count: '3' }],
  ],
  ['CSV with one column', 'csv', 'name\nplum; pear\n', [{ name: 'plum; pear' }]],
  ['CSV with commas in a quoted header', 'csv', '"a, b";c\n1;2\n', [{ 'a, b': '1', c: '2' }]],
  ['CSV with a comma among semicolons', 'csv', 'a, b;c;d\n1,5;2;3\n', [{ 'a, b': '1,5', c: '2', d: '3' }]],
  ['CSV with a comma beside a tab', 'csv', 'a\tb, c\n1\t2\n', [{ a: '1', 'b, c': '2' }]],
  ['CSV with empty rows', 'csv', 'a,b\n,\n1,\n , \n', [{ a: '1' }]],
])('readEntries: reads %s', (_reason, extension, text, values) => {
  expect(valuesOf(text, extension)).toEqual(values);
});

test('readEntries: the text after the front matter is the body', () => {
  expect(readEntries('---\ntitle: Soup\n---\nBoil.\n\n---\nServe.\n', 'md')[0]?.body).toBe('Boil.\n\n---\nServe.\n');
  expect(readEntries('+++\na = "---"\n+++\nBoil.\n\n+++\n', 'md')[0]?.body).toBe('Boil.\n\n+++\n');
});

test.each([
  ['front matter', 'md', '---\ntitle: Soup\ntags:\n  - warm\n  - [x]\n---\n', 0, ['tags', 1], 5],
  ['JSON', 'json', '[\n {"a": 1},\n {\n  "a": {"b": true}}\n]', 1, ['a', 'b'], 4],
  ['YAML', 'yaml', 'a: 1\n---\n\nb:\n  c: 2\n', 1, ['b', 'c'], 5],
  ['CSV', 'csv', 'a\n1\n2\n', 1, ['a'], 3],
  ['a flow collection with tabs', 'yaml', 'a: [\n\t1,\n\t2\n]\nb:\n  c: 2\n', 0, ['b', 'c'], 6],
  ['front matter in TOML', 'md', '+++\ntitle = "Soup"\ntags = [\n  "warm",\n]\n+++\n', 0, ['tags', 1], 3],
  ['a table of TOML', 'toml', 'a = 1\n[b . "c"]\n# d = 1\nd.e = 1\n', 0, ['b', 'c', 'd', 'e'], 4],
  ['an array of tables', 'toml', '[[a]]\nb = 1\n[[a]] # 2\n[[a.c]]\n[[a.c]]\nd = 1\n', 0, ['a', 1, 'c', 1, 'd'], 6],
  ['a missing value of a table', 'toml', '[[a]]\nb = 1\n[[a]]\nc = 1\n', 0, ['a', 1, 'b'], 3],
  ['JSON with duplicate keys', 'json', '[{"a": 1,\n "a": 2}]', 0, ['a'], 1],
  ['a path to a missing value', 'yaml', 'a: 1\nb: 2\n', 0, ['b', 'missing'], 2],
])('readEntries: returns the line of a value in %s', (_reason, extension, text, index, path, line) => {
  expect(readEntries(text, extension)[index]?.lineOf(path)).toBe(line);
});

test.each([
  ['malformed front matter', 'md', '---\ntitle: [\n---\n', 2],
  ['malformed front matter in TOML', 'md', '+++\ntitle = "Soup"\nserves = many\n+++\n', 3],
  ['a duplicate key in TOML', 'toml', 'a = 1\na = 2\n', 2],
  ['deep tables', 'toml', `${'a.'.repeat(50_000)}a = 1\n`, 1],
  ['TOML that is too long', 'toml', `a = "${'a'.repeat(262_144)}"\n`, 1],
  ['malformed JSON', 'json', '{\n"a": ]\n}', 2],
  ['a flow collection without an end at the end', 'yaml', 'a: 1\nb: [', 2],
  ['an error of a mapping after it', 'yaml', 'a: [\n\t1\n]\nb: c: d\n', 4],
  ['a flow collection without an end', 'yaml', 'a: 1\nb: [\n\t1,\nc: 2\n', 3],
  ['text in quotes without an end', 'yaml', "a: 1\nb: 'x\nc: 2\nd: 3\n", 2],
  ['a quote that ends at the next one', 'yaml', "a: 'x\nb: 'y'\n", 1],
  ['a duplicate key', 'yaml', 'a: 1\na: 2\n', 2],
  ['an alias of the list around it', 'yaml', 'a: 1\nb: &b\n  - 1\n  - *b\n', 4],
  ['an alias of the mapping around it', 'md', '---\na: &a\n  b: *a\n---\n', 3],
  ['an element that is not an object', 'json', '[{"a": 1},\n 5]', 2],
  ['plain text', 'yaml', 'only words\n', 1],
  ['a row that is too long', 'csv', 'a\n1\n1,2\n', 3],
  ['an unsupported format', 'txt', '', 1],
])('readEntries: rejects %s with its line', (_reason, extension, text, line) => {
  let refusal: unknown;
  try {
    readEntries(text, extension);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(ContentError);
  expect((refusal as ContentError).line).toBe(line);
});

test('readEntries: rejects aliases that would multiply', () => {
  const listOf = (name: string): string => `[${Array<string>(10).fill(name).join()}]`;
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const bomb = names.map((name, index) => `${name}: &${name} ${listOf(index === 0 ? 'x' : `*${names[index - 1]}`)}`);
  expect(() => readEntries(`${bomb.join('\n')}\ng: ${listOf('*f')}`, 'yaml')).toThrow('its aliases repeat more than');
});

test('readEntries: reads as many aliases as a file may have', () => {
  expect(valuesOf(`- &base { a: 1 }\n${'- *base\n'.repeat(1000)}`, 'yaml')).toEqual(Array(1001).fill({ a: 1 }));
});

test('readEntries: a key that is a collection is read without a warning of the process', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): number => warnings.push(warning);
  process.on('warning', listen);
  expect(valuesOf('title: {{ name }}\n', 'yaml')).toEqual([{ title: { '{ name }': null } }]);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  expect(warnings).toEqual([]);
});

test.each([
  ['flow lists', 2, `---\na: ${'['.repeat(600)}${']'.repeat(600)}\n---\n`],
  ['block lists', 3, `---\na:\n  ${'- '.repeat(600)}x\n---\n`],
  ['mappings', 2, `---\na: ${'{a: '.repeat(600)}1${'}'.repeat(600)}\n---\n`],
])('front matter with %s that are nested too deeply is rejected with its line', (_what, line, text) => {
  expect(() => readEntries(text, 'md')).toThrow(
    expect.objectContaining({ message: 'its values are nested too deeply.', line }) as Error,
  );
});
