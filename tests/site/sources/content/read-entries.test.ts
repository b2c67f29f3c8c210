import { ContentError, readEntries } from '../../../../src/site/sources/content/read-entries.js';

const valuesOf = (text: string, extension: string) => readEntries(text, extension).map(({ values }) => values);

test.each([
  [
    'Markdown with front matter',
    'md',
    '---\ntitle: Soup\ntags: [warm]\n---\nBoil.\n',
    [{ title: 'Soup', tags: ['warm'] }],
  ],
  ['Markdown without', 'md', 'Boil.\n', [{}]],
  ['Markdown whose front matter is empty', 'md', '---\n---\nBoil.\n', [{}]],
  ['Markdown with other line ends', 'md', '---\r\ntitle: Soup\r\n---\r\nBoil.\r\n', [{ title: 'Soup' }]],
  ['an object of JSON', 'json', '{"a": 1}', [{ a: 1 }]],
  ['a list of JSON', 'json', '[{"a": 1}, {"a": 2}]', [{ a: 1 }, { a: 2 }]],
  ['a byte order mark', 'json', '\uFEFF{"a": 1}', [{ a: 1 }]],
  ['a document of YAML', 'yaml', 'a: 1\nb: yes\n', [{ a: 1, b: 'yes' }]],
  ['a stream of YAML', 'yml', 'a: 1\n---\na: 2\n', [{ a: 1 }, { a: 2 }]],
  ['an empty file', 'yaml', '# nothing yet\n', []],
  [
    'rows of CSV',
    'csv',
    'name,count\nfig,3\nplum,\n"a, b",5\n',
    [{ name: 'fig', count: '3' }, { name: 'plum' }, { name: 'a, b', count: '5' }],
  ],
])('%s holds its records', (_reason, extension, text, values) => {
  expect(valuesOf(text, extension)).toEqual(values);
});

test('the text after the front matter is the body', () => {
  expect(readEntries('---\ntitle: Soup\n---\nBoil.\n\n---\nServe.\n', 'md')[0]?.body).toBe('Boil.\n\n---\nServe.\n');
});

test.each([
  ['front matter', 'md', '---\ntitle: Soup\ntags:\n  - warm\n  - [x]\n---\n', 0, ['tags', 1], 5],
  ['JSON', 'json', '[\n {"a": 1},\n {\n  "a": {"b": true}}\n]', 1, ['a', 'b'], 4],
  ['YAML', 'yaml', 'a: 1\n---\n\nb:\n  c: 2\n', 1, ['b', 'c'], 5],
  ['CSV', 'csv', 'a\n1\n2\n', 1, ['a'], 3],
  ['a path that breaks off', 'yaml', 'a: 1\nb: 2\n', 0, ['b', 'missing'], 2],
])('%s knows the line of a value', (_reason, extension, text, index, path, line) => {
  expect(readEntries(text, extension)[index]?.lineOf(path)).toBe(line);
});

test.each([
  ['broken front matter', 'md', '---\ntitle: [\n---\n', 2],
  ['broken JSON', 'json', '{\n"a": ]\n}', 2],
  ['a key twice', 'yaml', 'a: 1\na: 2\n', 2],
  ['something else than objects', 'json', '[{"a": 1},\n 5]', 2],
  ['text alone', 'yaml', 'only words\n', 1],
  ['a row that is too long', 'csv', 'a\n1\n1,2\n', 3],
  ['another format', 'txt', '', 1],
])('%s is refused with its line', (_reason, extension, text, line) => {
  let refusal: unknown;
  try {
    readEntries(text, extension);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(ContentError);
  expect((refusal as ContentError).line).toBe(line);
});

test('aliases that multiply are refused rather than unfolded', () => {
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x,x]',
    'b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]',
    'c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]',
    'd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]',
  ];
  expect(() => readEntries(bomb.join('\n'), 'yaml')).toThrow(ContentError);
});
