import { ask, closeGarden, idsOf } from './garden.js';

afterAll(closeGarden);

describe('sort of plugins', () => {
  test.each([
    ['ascending puts missing values last', 'fields: [name]', ['p1', 'p0', 'p3', 'p4', 'p2']],
    [
      'descending reverses the order: missing values come first',
      'fields: [name], order: [DESC]',
      ['p2', 'p4', 'p3', 'p0', 'p1'],
    ],
    [
      'a path through a missing object counts as missing',
      'fields: [packageJson___main]',
      ['p1', 'p3', 'p4', 'p0', 'p2'],
    ],
    ['ties keep creation order', 'fields: [packageJson___name]', ['p0', 'p3', 'p1', 'p2', 'p4']],
    [
      'ties keep creation order when descending too',
      'fields: [packageJson___name], order: [DESC]',
      ['p2', 'p4', 'p1', 'p0', 'p3'],
    ],
    [
      'order is matched by position',
      'fields: [packageJson___name, version], order: [ASC, DESC]',
      ['p3', 'p0', 'p1', 'p4', 'p2'],
    ],
    [
      'a field without an order is ascending',
      'fields: [packageJson___name, name], order: [DESC]',
      ['p4', 'p2', 'p1', 'p0', 'p3'],
    ],
    ['an extra order is ignored', 'fields: [name], order: [ASC, DESC, DESC]', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['an empty order list is ascending', 'fields: [name], order: []', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['single values count as lists', 'fields: name, order: DESC', ['p2', 'p4', 'p3', 'p0', 'p1']],
    ['text is sorted by code unit, not by numeric value', 'fields: [version]', ['p0', 'p3', 'p2', 'p4', 'p1']],
    ['false sorts before true', 'fields: [pluginOptions___pathCheck]', ['p1', 'p0', 'p2', 'p3', 'p4']],
    ['lists are sorted by their joined text', 'fields: [nodeAPIs]', ['p1', 'p3', 'p0', 'p4', 'p2']],
    ['nested lists are flattened', 'fields: [packageJson___dependencies___version]', ['p1', 'p0', 'p3', 'p2', 'p4']],
    ['an empty field list keeps creation order', 'fields: [], order: [DESC]', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['null fields keep creation order', 'fields: null, order: [DESC]', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['missing fields keep creation order', 'order: [DESC]', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['an empty sort keeps creation order', '', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['a null order list is ascending', 'fields: [name], order: null', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['a null order is ascending', 'fields: [name], order: [null]', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['a null field is ignored', 'fields: [null, name]', ['p1', 'p0', 'p3', 'p4', 'p2']],
  ])('%s', async (_statement, sort, expected) => {
    expect(await idsOf(`SitePlugin(sort: {${sort}})`)).toEqual(expected);
  });

  test('a null sort keeps creation order', async () => {
    expect(await idsOf('SitePlugin(sort: null)')).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  });

  test('an unknown field is rejected', async () => {
    await expect(idsOf('SitePlugin(sort: {fields: [nam]})')).rejects.toThrow(
      'Value "nam" does not exist in "SitePluginFieldsEnum"',
    );
  });
});

describe('sort of files', () => {
  test.each([
    ['numbers are sorted by value', 'fields: [size]', ['f0', 'f2', 'f1', 'f4', 'f3']],
    ['upper case sorts before _, lower case and other letters', 'fields: [name]', ['f3', 'f4', 'f0', 'f1', 'f2']],
    ['dates are sorted as text', 'fields: [mtime], order: [DESC]', ['f4', 'f3', 'f2', 'f1', 'f0']],
    [
      'a path through children is sorted as a list',
      'fields: [children___id], order: [DESC]',
      ['f1', 'f0', 'f2', 'f3', 'f4'],
    ],
    [
      'a path through a missing record counts as missing',
      'fields: [childImageProc___id]',
      ['f1', 'f0', 'f2', 'f3', 'f4'],
    ],
  ])('%s', async (_statement, sort, expected) => {
    expect(await idsOf(`File(sort: {${sort}})`)).toEqual(expected);
  });

  test('a path may pass through three parents', async () => {
    expect(await idsOf('ImageProc(sort: {fields: [parent___parent___parent___id, parent___id]})')).toEqual(['i1']);
  });

  test('fields and order may be variables', async () => {
    const query = `query ($fields: [FileFieldsEnum], $order: [SortOrderEnum]) {
      all: allFile(sort: {fields: $fields, order: $order}) { nodes { id } }
    }`;
    const { all } = await ask(query, { fields: ['size', 'name'], order: ['DESC'] });
    expect(all).toEqual({ nodes: ['f3', 'f4', 'f1', 'f0', 'f2'].map((id) => ({ id })) });
  });
});
