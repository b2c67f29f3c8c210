import { ask, closeGarden, idsOf } from './garden.js';

afterAll(closeGarden);

describe('a sort of plugins', () => {
  test.each([
    ['ascending puts missing values last', 'fields: [name]', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['descending is the mirror: missing values first', 'fields: [name], order: [DESC]', ['p2', 'p4', 'p3', 'p0', 'p1']],
    ['a path that breaks off counts as missing', 'fields: [packageJson___main]', ['p1', 'p3', 'p4', 'p0', 'p2']],
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
    ['a missing order ascends', 'fields: [packageJson___name, name], order: [DESC]', ['p4', 'p2', 'p1', 'p0', 'p3']],
    ['an extra order is ignored', 'fields: [name], order: [ASC, DESC, DESC]', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['order of nothing ascends', 'fields: [name], order: []', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['single values are lists of one', 'fields: name, order: DESC', ['p2', 'p4', 'p3', 'p0', 'p1']],
    ['text is in order of its code units, not of its numbers', 'fields: [version]', ['p0', 'p3', 'p2', 'p4', 'p1']],
    ['false goes before true', 'fields: [pluginOptions___pathCheck]', ['p1', 'p0', 'p2', 'p3', 'p4']],
    ['lists are compared as their joined text', 'fields: [nodeAPIs]', ['p1', 'p3', 'p0', 'p4', 'p2']],
    [
      'lists below lists are flattened',
      'fields: [packageJson___dependencies___version]',
      ['p1', 'p0', 'p3', 'p2', 'p4'],
    ],
    ['fields of nothing keep creation order', 'fields: [], order: [DESC]', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['fields that are null are no sort', 'fields: null, order: [DESC]', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['no fields are no sort', 'order: [DESC]', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['an empty sort is none', '', ['p0', 'p1', 'p2', 'p3', 'p4']],
    ['an order that is null ascends', 'fields: [name], order: null', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['an order of null ascends', 'fields: [name], order: [null]', ['p1', 'p0', 'p3', 'p4', 'p2']],
    ['a field of null is left out', 'fields: [null, name]', ['p1', 'p0', 'p3', 'p4', 'p2']],
  ])('%s', async (_statement, sort, expected) => {
    expect(await idsOf(`SitePlugin(sort: {${sort}})`)).toEqual(expected);
  });

  test('a sort that is null is none', async () => {
    expect(await idsOf('SitePlugin(sort: null)')).toEqual(['p0', 'p1', 'p2', 'p3', 'p4']);
  });

  test('a field that there is not is refused', async () => {
    await expect(idsOf('SitePlugin(sort: {fields: [nam]})')).rejects.toThrow(
      'Value "nam" does not exist in "SitePluginFieldsEnum"',
    );
  });
});

describe('a sort of files', () => {
  test.each([
    ['numbers are in order of their values', 'fields: [size]', ['f0', 'f2', 'f1', 'f4', 'f3']],
    ['capitals, then _, then small letters, then others', 'fields: [name]', ['f3', 'f4', 'f0', 'f1', 'f2']],
    ['dates are in order of their text', 'fields: [mtime], order: [DESC]', ['f4', 'f3', 'f2', 'f1', 'f0']],
    ['a path through children is a list', 'fields: [children___id], order: [DESC]', ['f1', 'f0', 'f2', 'f3', 'f4']],
    ['a path through another record may be missing', 'fields: [childImageProc___id]', ['f1', 'f0', 'f2', 'f3', 'f4']],
  ])('%s', async (_statement, sort, expected) => {
    expect(await idsOf(`File(sort: {${sort}})`)).toEqual(expected);
  });

  test('a path may lead through three parents', async () => {
    expect(await idsOf('ImageProc(sort: {fields: [parent___parent___parent___id, parent___id]})')).toEqual(['i1']);
  });

  test('fields and order may come through variables', async () => {
    const query = `query ($fields: [FileFieldsEnum], $order: [SortOrderEnum]) {
      all: allFile(sort: {fields: $fields, order: $order}) { nodes { id } }
    }`;
    const { all } = await ask(query, { fields: ['size', 'name'], order: ['DESC'] });
    expect(all).toEqual({ nodes: ['f3', 'f4', 'f1', 'f0', 'f2'].map((id) => ({ id })) });
  });
});
