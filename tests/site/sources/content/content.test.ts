import { mkdirSync, renameSync, rmSync } from 'node:fs';
import type { RecordField, RecordTable, ScalarField, ScalarType } from '@trellis/core/record-types';
import { formatProblem } from '@trellis/site/sources/problems';
import { records } from '../../../../src/generated/site/records.js';
import { eventually } from '../../../eventually.js';
import { type Row, SiteFolder } from '../site-folder.js';

const scalar = (name: string, type: ScalarType, changes: Partial<ScalarField> = {}): ScalarField => ({
  ...{ kind: 'scalar', name, path: name, column: name, type, list: false, nullable: true },
  ...{ dateArguments: false, indexed: false },
  ...changes,
});

const link = (name: string, type: string, changes: { list?: boolean; to?: string } = {}): RecordField => ({
  ...{ kind: 'relation', name, path: name, type, list: changes.list ?? false, nullable: true },
  relation: { by: 'link', from: name, to: changes.to ?? 'id' },
});

const dish = (globs: readonly string[], fields: readonly RecordField[] = []): RecordTable => ({
  ...{ kind: 'Dish', single: 'dish', all: 'allDish', source: { globs } },
  fields: [
    scalar('title', 'String', { nullable: false }),
    scalar('serves', 'Int'),
    link('cover', 'File'),
    link('pictures', 'File', { list: true }),
    link('folder', 'Directory'),
    link('like', 'Dish', { to: 'title' }),
    ...fields,
    ...records.Site.fields.filter(({ name }) => ['id', 'parent', 'children', 'internal'].includes(name)),
  ],
});

const COLUMNS = ['id', 'parent', 'title', 'serves', 'cover', 'pictures', 'folder', 'like', 'internal.type'];

let folder: SiteFolder;
beforeEach(() => {
  folder = new SiteFolder(['images/a.png', 'images/b.png']);
});
afterEach(() => folder.remove());

interface Opened {
  readonly dishes: readonly Row[];
  readonly files: readonly Row[];
  readonly warnings: readonly string[];
  readonly count: number;
}

async function open(table: RecordTable = dish(['dishes/**']), columns = COLUMNS): Promise<Opened> {
  let [warnings, count]: [readonly string[], number] = [[], 0];
  const onWarnings = (messages: readonly string[], all: number): void => void ([warnings, count] = [messages, all]);
  const tables = { ...records, Dish: table };
  const site = await folder.open({ tables, onWarnings, workingDirectory: folder.directory });
  const dishes = [...site.store.rows('Dish', columns)];
  const files = [...site.store.rows('File', ['id', 'relativePath'])];
  site.close();
  return { dishes, files, warnings, count };
}

const titles = ({ dishes }: Opened): unknown[] => dishes.map(({ title }) => title);
const idOf = ({ files }: Opened, path: string): unknown => files.find(({ relativePath }) => relativePath === path)?.id;
const markdown = (values: object): string => `---\n${JSON.stringify(values)}\n---\nText.\n`;

test('content: files of each format contain records, which are children of their file', async () => {
  folder.put('dishes/1.md', '---\ntitle: Soup\nserves: 2\n---\nBoil.\n');
  folder.put('dishes/2.json', '[{"title": "Bread"}, {"title": "Jam", "serves": 8}]');
  folder.put('dishes/3.yaml', 'title: Tea\n');
  folder.put('dishes/4.csv', 'title,serves\nSalad,1\nCake,12\n');
  const site = await open();
  expect(site.dishes.map(({ title, serves }) => [title, serves])).toEqual([
    ['Soup', 2],
    ['Bread', null],
    ['Jam', 8],
    ['Tea', null],
    ['Salad', 1],
    ['Cake', 12],
  ]);
  expect(site.dishes.map(({ parent }) => parent)).toEqual(
    ['1.md', '2.json', '2.json', '3.yaml', '4.csv', '4.csv'].map((name) => idOf(site, `dishes/${name}`)),
  );
  expect(new Set(site.dishes.map(({ id }) => id)).size).toBe(6);
  expect(site.dishes[0]).toMatchObject({ 'internal.type': 'Dish' });
  expect(site).toMatchObject({ warnings: [], count: 0 });
});

test('content: `at` leads to the records in a file, which can grow and shrink', async () => {
  const table = { ...dish([]), source: { globs: ['dishes/**'], at: 'menu.*' } };
  folder.put('dishes/a.yaml', 'menu:\n  soup: { title: Soup }\n  tea:\n    serves: two\n    title: Tea\n');
  folder.put('dishes/b.yaml', 'menu:\n  jam: { title: Jam }\n');
  const before = await open(table);
  expect(titles(before)).toEqual(['Soup', 'Tea', 'Jam']);
  expect(before.warnings).toEqual([expect.stringContaining('dishes/a.yaml:4: Dish.serves: expected')]);
  folder.put('dishes/a.yaml', 'menu:\n  soup: { title: Soup }\n');
  folder.put('dishes/b.yaml', 'menu: { a: { title: A }, b: { title: B }, c: { title: C } }\n');
  expect(titles(await open(table))).toEqual(['Soup', 'A', 'B', 'C']);
});

test.each([
  [undefined, 'soup: { title: Soup }\ntea: { title: Tea }\n', '*'],
  ['menu', 'menu:\n  soup: { title: Soup }\n  tea: { title: Tea }\n', 'menu.*'],
])(
  'content: with `at` %j, keys that could name records are reported with the way to read them',
  async (at, text, keys) => {
    folder.put('dishes/a.yaml', text);
    const { dishes, warnings } = await open({ ...dish([]), source: { globs: ['dishes/**'], ...(at && { at }) } });
    expect(dishes).toEqual([]);
    expect(warnings.at(-1)).toContain(`If each of its keys is a record, write @source(at: "${keys}").`);
  },
);

test('content: matching files of other formats are ignored', async () => {
  folder.put('dishes/a.png', 'PNG');
  folder.put('dishes/a.ini', 'title = "A"');
  expect(await open()).toMatchObject({ dishes: [], count: 0 });
});

test('content: records keep their ids if their file stays', async () => {
  folder.put('dishes/a.json', '[{"title": "One"}, {"title": "Two"}]');
  const before = await open();
  folder.put('dishes/0.md', markdown({ title: 'Zero' }));
  folder.put('dishes/a.json', '[{"title": "First"}, {"title": "Two"}, {"title": "Three"}]');
  const after = await open();
  expect(titles(after)).toEqual(['Zero', 'First', 'Two', 'Three']);
  expect(after.dishes.slice(1, 3).map(({ id }) => id)).toEqual(before.dishes.map(({ id }) => id));
});

test.each([
  ['a deleted file', () => rmSync(folder.path('dishes/a.json')), ['Last']],
  [
    'a renamed file',
    () => renameSync(folder.path('dishes/a.json'), folder.path('dishes/z.json')),
    ['Last', 'One', 'Two'],
  ],
  [
    'a file with fewer records',
    () => {
      folder.put('dishes/a.json', '[{"title": "One"}]');
    },
    ['One', 'Last'],
  ],
  [
    'a file without records',
    () => {
      folder.put('dishes/a.json', '[]');
    },
    ['Last'],
  ],
  [
    'a malformed file',
    () => {
      folder.put('dishes/a.json', '[{');
    },
    ['Last'],
  ],
  [
    'a file that no longer matches a glob',
    () => renameSync(folder.path('dishes/a.json'), folder.path('a.json')),
    ['Last'],
  ],
  [
    'a file that is replaced by a folder',
    () => {
      rmSync(folder.path('dishes/a.json'));
      mkdirSync(folder.path('dishes/a.json'));
    },
    ['Last'],
  ],
])('content: records are updated after %s', async (_reason, change, expected) => {
  folder.put('dishes/a.json', '[{"title": "One"}, {"title": "Two"}]');
  folder.put('dishes/b.md', markdown({ title: 'Last' }));
  await open();
  change();
  expect(titles(await open())).toEqual(expected);
});

test('content: a start reads only changed files', async () => {
  folder.put('dishes/a.md', markdown({ title: 'A' }));
  folder.put('dishes/b.md', markdown({ title: 'B' }));
  await open();
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await open();
  const site = await folder.open({
    tables: { ...records, Dish: dish(['dishes/**']) },
    workingDirectory: folder.directory,
  });
  site.store.write((rows) => {
    for (const { id, position, ...row } of [...site.store.rows('Dish', ['id', 'parent', 'title'])]) {
      rows.put('Dish', { ...row, id: id!, title: `stored ${String(row.title)}` }, Number(position));
    }
  });
  site.close();
  folder.put('dishes/b.md', markdown({ title: 'B, changed' }));
  expect(titles(await open())).toEqual(['stored A', 'B, changed']);
});

test.each([
  ['different globs', () => dish(['dishes/a.md'])],
  ['a field that becomes non-null', () => dish(['dishes/**'], [scalar('chef', 'String', { nullable: false })])],
])('content: %s cause all files to be read again', async (_reason, table) => {
  folder.put('dishes/a.md', markdown({ title: 'A', chef: 'Ann' }));
  folder.put('dishes/b.md', markdown({ title: 'B' }));
  expect(titles(await open(dish(['dishes/**'], [scalar('chef', 'String')])))).toEqual(['A', 'B']);
  expect(titles(await open(table()))).toEqual(['A']);
});

test('content: globs match the path below the source or below the site', async () => {
  folder.put(
    'site.config.json',
    '{"sources": [{"name": "content", "path": "content"}, {"name": "more", "path": "more"}]}',
  );
  folder.put('content/dishes/a.md', markdown({ title: 'Content' }));
  folder.put('more/dishes/b.md', markdown({ title: 'More' }));
  expect(titles(await open(dish(['dishes/*.md'])))).toEqual(['Content', 'More']);
  expect(titles(await open(dish(['more/dishes/*.md'])))).toEqual(['More']);
});

test('content: the source is renumbered when a file has more records than free positions', async () => {
  folder.put('dishes/a.csv', 'title\n1\n');
  folder.put('dishes/z.md', markdown({ title: 'last' }));
  await open();
  // Each file gets a position halfway between its neighbours, until no position is free.
  for (let index = 0; index < 22; index += 1) {
    folder.put(`dishes/m${String(99 - index)}.md`, markdown({ title: `m${String(99 - index)}` }));
    await open();
  }
  folder.put('dishes/a.csv', `title\n${'1\n'.repeat(50)}`);
  const all = titles(await open());
  expect(all).toHaveLength(50 + 22 + 1);
  expect(all.slice(49, 52)).toEqual(['1', 'm78', 'm79']);
  expect(all.at(-1)).toBe('last');
});

describe('links', () => {
  test.each([
    ['its own folder', './c.png', 'dishes/c.png'],
    ['the folder above', '../images/a.png', 'images/a.png'],
    ['its source', '/images/a.png', 'images/a.png'],
    ['its own folder without ./', 'c.png', 'dishes/c.png'],
    ['its source without a leading slash', 'images/b.png', 'images/b.png'],
    ['a path with several ..', '.././dishes/../images/b.png', 'images/b.png'],
    ['a name with decomposed accents', './Größe.png', 'dishes/Größe.png'.normalize('NFD')],
  ])('lead to a file relative to %s', async (_reason, cover, path) => {
    folder.put('dishes/c.png');
    folder.put('dishes/Größe.png'.normalize('NFD'));
    folder.put('dishes/a.md', markdown({ title: 'A', cover }));
    const site = await open();
    expect(site.warnings).toEqual([]);
    expect(site.dishes[0]!.cover).toBe(idOf(site, path));
  });

  test('prefer the folder of the file', async () => {
    folder.put('dishes/images/a.png');
    folder.put('dishes/a.md', markdown({ title: 'A', cover: 'images/a.png' }));
    const site = await open();
    expect(site.dishes[0]!.cover).toBe(idOf(site, 'dishes/images/a.png'));
    rmSync(folder.path('dishes/images/a.png'));
    const after = await open();
    expect(after.dishes[0]!.cover).toBe(idOf(after, 'images/a.png'));
  });

  test('lead to several files, to folders, and to records by key', async () => {
    const values = { pictures: ['../images/b.png', '../images/a.png'], folder: '../images', like: 'B' };
    folder.put('dishes/a.md', markdown({ title: 'A', ...values }));
    const site = await open();
    const pictures = JSON.stringify([idOf(site, 'images/b.png'), idOf(site, 'images/a.png')]);
    expect(site.dishes[0]).toMatchObject({ pictures, like: 'B' });
    expect(site.dishes[0]!.folder).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['nothing', '../images/none.png'],
    ['a folder instead of a file', '../images'],
    ['a file outside all sources', '../../outside.png'],
    ['an excluded file', '../node_modules/x.png'],
    ['an invalid file name', 'a\0b'],
    ['a URL', 'https://example.org/a.png'],
  ])('to %s are null, with a warning', async (_reason, cover) => {
    folder.put('../outside.png');
    folder.put('node_modules/x.png');
    folder.put('dishes/a.md', `---\ntitle: A\ncover: ${JSON.stringify(cover)}\n---\n`);
    const site = await open();
    expect(site.dishes[0]!.cover).toBeNull();
    expect(site.warnings).toEqual([
      `dishes/a.md:3: Dish.cover: expected the path of a File; received ${JSON.stringify(cover)}.`,
    ]);
  });

  test('by a value that no record has are reported with their file, until there is one', async () => {
    folder.put('dishes/a.md', markdown({ title: 'A', like: 'B', likes: ['A', 'D'] }));
    folder.put(
      'dishes/b.json',
      '[{"title": "C", "like": "B"}, {"title": "E", "like": null, "likes": ["D", "D", "A"]}]',
    );
    const table = dish(['dishes/**'], [link('likes', 'Dish', { list: true, to: 'title' })]);
    const warnings: string[] = [];
    const onWarnings = (messages: readonly string[]): void => void warnings.push(...messages);
    const tables = { ...records, Dish: table };
    const site = await folder.open({ tables, onWarnings, workingDirectory: folder.directory, watch: {} });
    const problems = () => site.problems().entries.map(formatProblem);
    await site.firstCheck;
    const of = (field: string, title: string, more: string) =>
      `dishes/a.md links to an unknown Dish in Dish.${field}: title "${title}"${more}.`;
    const unknown = [of('like', 'B', ' (2 links)'), of('likes', 'D', ' (3 links)')];
    expect(problems()).toEqual(unknown);
    expect(warnings).toEqual(unknown);
    folder.put('dishes/d.md', markdown({ title: 'D', like: 'F' }));
    await eventually(() => expect(problems()).toEqual([of('like', 'B', ' (2 links)'), expect.stringContaining('"F"')]));
    expect(warnings.slice(2)).toEqual(['dishes/d.md links to an unknown Dish in Dish.like: title "F".']);
    site.close();
  });

  test('begin with an alias of the configuration', async () => {
    folder.put('site.config.json', '{"aliases": {"~": ".", "@/pictures": "images"}}');
    folder.put('dishes/a.md', markdown({ title: 'A', cover: '~/images/a.png', pictures: ['@/pictures/b.png'] }));
    const site = await open();
    expect(site.warnings).toEqual([]);
    expect(site.dishes[0]).toMatchObject({
      cover: idOf(site, 'images/a.png'),
      pictures: JSON.stringify([idOf(site, 'images/b.png')]),
    });
    folder.put('site.config.json', '{"aliases": {"~": "dishes"}}');
    expect((await open()).dishes[0]).toMatchObject({ cover: null, pictures: '[]' });
  });

  test.each([
    ['/images/none.png', 'the path of a File below the folder of the source, as it begins with a slash'],
    ['~/images/a.png', "the path of a File, or one that begins with an alias of the site's configuration"],
  ])('to %s have a warning that names the form of paths', async (cover, wanted) => {
    folder.put('dishes/a.md', markdown({ title: 'A', cover }));
    expect((await open()).warnings).toEqual([
      expect.stringContaining(`Dish.cover: expected ${wanted}; received ${JSON.stringify(cover)}.`),
    ]);
  });

  test('follow files that are added and deleted later', async () => {
    folder.put('dishes/a.md', markdown({ title: 'A', cover: '../images/new.png' }));
    expect((await open()).count).toBe(1);
    folder.put('images/new.png');
    const found = await open();
    expect(found.dishes[0]!.cover).toBe(idOf(found, 'images/new.png'));
    expect(found.count).toBe(0);
    rmSync(folder.path('images/new.png'));
    const lost = await open();
    expect(lost.dishes[0]!.cover).toBeNull();
    expect(lost.count).toBe(1);
  });

  test('follow a file that is added to a later source', async () => {
    folder.put(
      'site.config.json',
      '{"sources": [{"name": "dishes", "path": "dishes"}, {"name": "images", "path": "images"}]}',
    );
    folder.put('dishes/a.md', markdown({ title: 'A', cover: '../images/new.png' }));
    const table = dish(['*.md']);
    expect((await open(table)).count).toBe(1);
    folder.put('images/new.png');
    const found = await open(table);
    expect(found.dishes[0]!.cover).toBe(idOf(found, 'new.png'));
  });
});

describe('invalid values', () => {
  test('are reported with their line, and null if the field is nullable', async () => {
    folder.put('dishes/a.md', '---\ntitle: A\nserves: many\n---\n');
    const site = await open();
    expect(site.dishes[0]).toMatchObject({ title: 'A', serves: null });
    expect(site.warnings).toEqual(['dishes/a.md:3: Dish.serves: expected a 32-bit whole number; received "many".']);
  });

  test('leave the record out if the field is not nullable', async () => {
    folder.put('dishes/a.json', '[{"title": "A"},\n{"serves": 1},\n{"title": "C"}]');
    const site = await open();
    expect(titles(site)).toEqual(['A', 'C']);
    expect(site.warnings).toEqual([
      'dishes/a.json:2: Dish.title: expected a value that is not null; received nothing.',
      'dishes/a.json:2: Dish: left out, because a required value is missing or invalid.',
    ]);
  });

  test('are reported again at the next start until they are fixed', async () => {
    folder.put('dishes/a.md', markdown({ title: 'A', serves: 'many' }));
    await open();
    expect((await open()).count).toBe(1);
    folder.put('dishes/a.md', markdown({ title: 'A', serves: 2 }));
    expect((await open()).count).toBe(0);
  });

  test.each([
    [
      'bytes that are not text',
      'a.md',
      Buffer.from([0xff, 0xfe, 0x41]),
      '1: expected UTF-8 text; received other bytes.',
    ],
    ['an image with the wrong extension', 'a.json', 'PNG\0\0', '1: expected UTF-8 text; received other bytes.'],
    [
      'a file that is too large',
      'a.csv',
      `title\n${'x'.repeat(4 * 1024 * 1024)}`,
      '1: expected a file of at most 4.19 MB; received 4.19 MB.',
    ],
    [
      'YAML that is too long',
      'a.yaml',
      `# ${'x'.repeat(262_144)}`,
      '1: expected at most 262144 characters of YAML; received 262146. JSON and CSV may be longer.',
    ],
    ['malformed YAML', 'a.yaml', 'title: A\nb: [', '2: '],
  ])('can come from %s', async (_reason, name, content, message) => {
    folder.put(`dishes/${name}`, content as string);
    folder.put('dishes/b.md', markdown({ title: 'B' }));
    const site = await open();
    expect(titles(site)).toEqual(['B']);
    expect(site.warnings[0]).toContain(`dishes/${name}:${message}`);
  });

  test('are all counted, even if not all are listed', async () => {
    folder.put('dishes/a.csv', `title,serves\n${'A,many\n'.repeat(100)}`);
    const { warnings, count } = await open();
    expect(warnings).toHaveLength(20);
    expect(count).toBe(100);
  });
});
