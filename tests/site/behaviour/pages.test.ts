import { ask, closeGarden } from './garden.js';

afterAll(closeGarden);

const PAGE = 'pageInfo { currentPage hasNextPage hasPreviousPage itemCount pageCount perPage totalCount } totalCount';

const infoOf = async (args: string) => {
  const { all } = await ask(`{ all: allFile${args} { ${PAGE} nodes { id } } }`);
  const { pageInfo, totalCount, nodes } = all as { pageInfo: object; totalCount: number; nodes: { id: string }[] };
  expect(pageInfo).toMatchObject({ totalCount, itemCount: nodes.length });
  return pageInfo;
};

describe('pages of five files', () => {
  test.each([
    [
      'without a limit, there is one page',
      '',
      { currentPage: 1, pageCount: 1, perPage: null, itemCount: 5, totalCount: 5 },
    ],
    [
      'a page has as many records as its limit',
      '(limit: 2)',
      { currentPage: 1, pageCount: 3, perPage: 2, hasNextPage: true },
    ],
    [
      'the page number is rounded up if skip is not a multiple of limit',
      '(limit: 2, skip: 1)',
      { currentPage: 2, pageCount: 3, hasNextPage: true, hasPreviousPage: true },
    ],
    [
      'without a limit, the records after a skip are the second page',
      '(skip: 2)',
      { currentPage: 2, pageCount: 2, itemCount: 3, hasNextPage: false, hasPreviousPage: true },
    ],
    [
      'a page may be past the end',
      '(limit: 2, skip: 6)',
      { currentPage: 4, itemCount: 0, hasNextPage: false, hasPreviousPage: true },
    ],
    [
      'a page with limit 0 has no records',
      '(limit: 0)',
      { currentPage: 1, pageCount: 1, perPage: 0, itemCount: 0, hasNextPage: false },
    ],
    [
      'a page with limit 0 after a skip is the second of two',
      '(limit: 0, skip: 2)',
      { currentPage: 2, pageCount: 2, perPage: 0 },
    ],
    [
      'an empty result is the first of one page',
      '(filter: {name: {eq: "z"}})',
      { currentPage: 1, pageCount: 1, totalCount: 0 },
    ],
    [
      'an empty result with a limit has zero pages',
      '(filter: {name: {eq: "z"}}, limit: 2)',
      { currentPage: 1, pageCount: 0 },
    ],
    ['null arguments count as absent', '(limit: null, skip: null)', { currentPage: 1, itemCount: 5, perPage: null }],
    [
      'totalCount counts all matches before skip and limit',
      '(filter: {extension: {eq: "md"}}, limit: 1, skip: 1)',
      { totalCount: 3, itemCount: 1 },
    ],
  ])('%s', async (_statement, args, expected) => {
    expect(await infoOf(args)).toMatchObject(expected);
  });

  test.each(['limit', 'skip'])('a negative %s is rejected by name', async (name) => {
    await expect(infoOf(`(${name}: -1)`)).rejects.toThrow(`Expected ${name} to be 0 or more; received -1.`);
  });

  test('edges have neighbours only within the page', async () => {
    const { all } = await ask(
      '{ all: allFile(skip: 1, limit: 2) { edges { previous { id } node { id } next { id } } } }',
    );
    expect(all).toEqual({
      edges: [
        { previous: null, node: { id: 'f1' }, next: { id: 'f2' } },
        { previous: { id: 'f1' }, node: { id: 'f2' }, next: null },
      ],
    });
  });
});

const groupsOf = async (query: string) => {
  const { all } = await ask(`{ all: all${query} }`);
  const { group } = all as { group: { fieldValue: string; totalCount: number; nodes: { id: string }[] }[] };
  return Object.fromEntries(
    group.map(({ fieldValue, totalCount, nodes }) => [fieldValue, [totalCount, ...nodes.map(({ id }) => id)]]),
  );
};

const GROUP = '{ fieldValue totalCount nodes { id } }';

describe('groups', () => {
  test.each([
    [
      'there is a group for each value',
      `File { group(field: extension) ${GROUP} }`,
      { md: [3, 'f0', 'f2', 'f4'], png: [1, 'f1'], txt: [1, 'f3'] },
    ],
    [
      'only records of the page count',
      `File(limit: 2) { group(field: extension) ${GROUP} }`,
      { md: [1, 'f0'], png: [1, 'f1'] },
    ],
    [
      'values are converted to text',
      `File { group(field: blocks) ${GROUP} }`,
      { 0: [1, 'f4'], 16: [1, 'f2'], 8: [1, 'f0'] },
    ],
    [
      'null and missing values are left out',
      `SitePlugin { group(field: packageJson___name) ${GROUP} }`,
      { a: [2, 'p0', 'p3'], b: [1, 'p1'] },
    ],
    [
      'a record with a list is in the group of each distinct element',
      `SitePlugin { group(field: nodeAPIs) ${GROUP} }`,
      { x: [1, 'p0'], y: [2, 'p0', 'p4'], z: [1, 'p3'] },
    ],
    [
      'records keep the order of the query',
      `File(sort: {fields: [mtime], order: [DESC]}) { group(field: size) ${GROUP} }`,
      { 100: [1, 'f3'], 20: [2, 'f4', 'f1'], 3: [2, 'f2', 'f0'] },
    ],
    [
      'skip and limit apply within each group, which may become empty',
      `File { group(field: extension, skip: 1, limit: 1) ${GROUP} }`,
      { md: [3, 'f2'], png: [1], txt: [1] },
    ],
    [
      'dates are grouped by their stored text',
      `File(limit: 1) { group(field: mtime) ${GROUP} }`,
      { '2016-02-28T10:00:00.000Z': [1, 'f0'] },
    ],
    [
      'booleans become true and false',
      `SitePlugin { group(field: pluginOptions___pathCheck) ${GROUP} }`,
      { false: [1, 'p1'], true: [1, 'p0'] },
    ],
    [
      'there are no groups if no record has a value',
      `File(filter: {name: {eq: "z"}}) { group(field: name) ${GROUP} }`,
      {},
    ],
    [
      'a limit of 0 is accepted',
      `File { group(field: extension, limit: 0) ${GROUP} }`,
      { md: [3], png: [1], txt: [1] },
    ],
  ])('%s', async (_statement, query, expected) => {
    expect(await groupsOf(query)).toEqual(expected);
  });

  test('groups are sorted by the text of their values and name the field with dots', async () => {
    const { all } = await ask(
      '{ all: allFile { group(field: blocks) { field fieldValue } } b: allImageProc { group(field: parent___id) { field fieldValue } } }',
    );
    expect((all as { group: { fieldValue: string }[] }).group.map(({ fieldValue }) => fieldValue)).toEqual([
      '0',
      '16',
      '8',
    ]);
    const { b } = await ask('{ b: allImageProc { group(field: parent___id) { field fieldValue } } }');
    expect(b).toEqual({ group: [{ field: 'parent.id', fieldValue: 'f1' }] });
  });

  test('groups can be sorted by value or count', async () => {
    const { all } = await ask(
      '{ all: allFile { a: group(field: size, sort: {by: COUNT, order: DESC}) { fieldValue } b: group(field: size, sort: {order: DESC}) { fieldValue } } }',
    );
    const values = (list: readonly { fieldValue: string }[]): string[] => list.map(({ fieldValue }) => fieldValue);
    const { a, b } = all as Record<'a' | 'b', { fieldValue: string }[]>;
    expect([values(a), values(b)]).toEqual([
      ['20', '3', '100'],
      ['3', '20', '100'],
    ]);
  });

  test('each group has its own page information', async () => {
    const { all } = await ask(
      '{ all: allFile { group(field: extension, limit: 2) { pageInfo { pageCount hasNextPage itemCount } } } }',
    );
    expect((all as { group: object[] }).group[0]).toEqual({
      pageInfo: { pageCount: 2, hasNextPage: true, itemCount: 2 },
    });
  });
});

describe('distinct values', () => {
  test.each([
    ['values are unique and sorted as text', 'File { distinct(field: size) }', ['100', '20', '3']],
    ['only records of the page count', 'File(limit: 2) { distinct(field: size) }', ['20', '3']],
    ['lists are flattened without their nulls', 'SitePlugin { distinct(field: nodeAPIs) }', ['x', 'y', 'z']],
    ['null and missing values are left out', 'SitePlugin { distinct(field: packageJson___main) }', ['m', 'n', 'x']],
    [
      'fields of list elements are collected',
      'SitePlugin { distinct(field: packageJson___dependencies___version) }',
      ['1', '2'],
    ],
    ['booleans become text', 'SitePlugin { distinct(field: pluginOptions___pathCheck) }', ['false', 'true']],
    ['the result may be empty', 'SitePlugin(limit: 0) { distinct(field: name) }', []],
  ])('%s', async (_statement, query, expected) => {
    expect(((await ask(`{ all: all${query} }`)).all as { distinct: string[] }).distinct).toEqual(expected);
  });

  test.each([
    [
      'a list of objects has the JSON of each',
      'packageJson___dependencies',
      'SitePlugin',
      ['{"name":"d1","version":"1"}', '{"name":"d2","version":null}'],
    ],
    ['a list of records has their ids', 'children', 'File', ['i1']],
    ['a list without elements has no values', 'children', 'SitePlugin', []],
  ])('%s', async (_statement, field, kind, expected) => {
    const { all } = await ask(
      `{ all: all${kind} { distinct(field: ${field}) group(field: ${field}) { fieldValue } } }`,
    );
    const { distinct, group } = all as { distinct: string[]; group: { fieldValue: string }[] };
    expect(distinct).toEqual(expect.arrayContaining(expected));
    expect(group.map(({ fieldValue }) => fieldValue)).toEqual(distinct);
  });

  test('the field may be a variable', async () => {
    const query =
      'query ($field: SitePluginFieldsEnum!) { all: allSitePlugin { distinct(field: $field) group(field: $field) { field } } }';
    expect((await ask(query, { field: 'packageJson___name' })).all).toEqual({
      distinct: ['a', 'b'],
      group: [{ field: 'packageJson.name' }, { field: 'packageJson.name' }],
    });
  });
});

describe('dates', () => {
  test.each([
    ['a date without arguments is the stored text', 'mtime', '2016-02-28T10:00:00.000Z'],
    ['a date is formatted', 'mtime(formatString: "YYYY/MM")', '2016/02'],
    ['an alias of a date is formatted', 'modifiedTime(formatString: "YYYY")', '2016'],
    [
      'null arguments of a date count as absent',
      'mtime(formatString: null, fromNow: null)',
      '2016-02-28T10:00:00.000Z',
    ],
  ])('%s', async (_statement, field, expected) => {
    expect((await ask(`{ file { date: ${field} } }`)).file).toEqual({ date: expected });
  });

  test('Site.port is text and is formatted as a year', async () => {
    const query = '{ site(port: {gte: "8"}) { port year: port(formatString: "YYYY-MM-DD") } }';
    expect((await ask(query)).site).toEqual({ port: '8000', year: '8000-01-01' });
  });
});
