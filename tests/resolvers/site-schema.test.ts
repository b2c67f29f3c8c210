import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Images, openImages } from '@trellis/images/images';
import { OperationBudget } from '@trellis/server/graphql/budget';
import { createPublicPath } from '@trellis/site/public-files';
import { createFormatDate } from '@trellis/site/query/dates';
import { openRecordStore, type RecordStore } from '@trellis/site/record-store';
import type { RecordWriter } from '@trellis/site/records/record-writer';
import { buildSchema, execute, graphql, GraphQLInt, type GraphQLSchema, parse } from 'graphql';
import { records } from '../../src/generated/site/records.js';
import { createSiteContext, type SiteContext } from '../../src/resolvers/context.js';
import { ALLOW_ALL } from '../../src/resolvers/stored-arguments.js';
import { createImageSources } from '../../src/site-data/images.js';
import { buildSiteSchema } from './site-schema.js';

/** Enough for all queries of this file together. */
const LIMITS = { values: 1e6, workMs: 10_000, timeoutMs: 60_000 };

const CONTENT = 'hello';
const DIGEST = createHash('md5').update(CONTENT).digest('hex');

let directory: string;
let store: RecordStore;
let schema: GraphQLSchema;
let images: Images;
let contextValue: SiteContext;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'site-schema-'));
  await writeFile(path.join(directory, 'a b.md'), CONTENT);
  store = openRecordStore({ file: ':memory:', tables: records });
  store.write(fill);
  schema = buildSiteSchema();
  const pictures = createImageSources(store);
  images = openImages({ stateDirectory: directory, findSource: pictures.find });
  const publicFiles = { pathOf: createPublicPath(), linkTo: createPublicPath() };
  const services = {
    records: store,
    publicFiles,
    pictures,
    images,
    imagePolicy: ALLOW_ALL,
    formatDate: createFormatDate(),
  };
  contextValue = createSiteContext(services, new OperationBudget(LIMITS));
});

afterAll(async () => {
  await images.close();
  store.close();
  await rm(directory, { recursive: true });
});

const internal = (type: string) => ({
  'internal.type': type,
  'internal.contentDigest': DIGEST,
  'internal.owner': 'test',
});

function fill(writer: RecordWriter): void {
  ['a b.md', 'b.png', 'c.md', 'd.png', 'e.md'].forEach((base, index) => {
    const [name = '', extension = ''] = base.split('.');
    const mtime = `2020-02-0${index + 1}T00:00:00.000Z`;
    const file = { base, name, extension, size: index * 10, mtime, absolutePath: path.join(directory, base) };
    writer.put('File', { ...file, id: `f${index}`, ...internal('File') }, index);
    if (extension === 'png')
      writer.put('ImageProc', { id: `i${index}`, parent: `f${index}`, ...internal('ImageProc') }, 10 + index);
  });
  writer.put('Site', { id: 'Site', polyfill: 1, 'siteMetadata.title': 'T', port: '8000', ...internal('Site') }, 1);
  writer.put('SiteBuildMetadata', { id: 'B', buildTime: '2024-05-06T07:08:09Z', ...internal('SiteBuildMetadata') }, 1);
  const dependencies = JSON.stringify([{ name: 'x', version: '1' }]);
  writer.put(
    'SitePlugin',
    { id: 'P', name: 'p', nodeAPIs: '["a","b"]', 'packageJson.dependencies': dependencies, ...internal('SitePlugin') },
    1,
  );
  writer.put('SitePlugin', { id: 'Q', name: 'q', ...internal('SitePlugin') }, 2);
  const page = { path: '/', component: 'c', componentChunkName: 'n', internalComponentName: 'i', pluginCreatorId: 'P' };
  writer.put('SitePage', { id: 'page', ...page, ...internal('SitePage') }, 1);
}

async function ask(source: string, variableValues?: Record<string, unknown>): Promise<unknown> {
  const { data, errors } = await graphql({ schema, source, contextValue, variableValues });
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return JSON.parse(JSON.stringify(data));
}

describe('the query of one record', () => {
  test.each([
    ['returns the first match', '{ file(extension: {eq: "png"}) { base } }', { file: { base: 'b.png' } }],
    ['returns the first record if there are no conditions', '{ file { base } }', { file: { base: 'a b.md' } }],
    ['returns null if no record matches', '{ file(base: {eq: "z"}) { base } }', { file: null }],
    [
      'returns null for a record type without records',
      '{ directory { base } allDirectory { totalCount nodes { base } } }',
      { directory: null, allDirectory: { totalCount: 0, nodes: [] } },
    ],
  ])('%s', async (_reason, query, expected) => {
    expect(await ask(query)).toEqual(expected);
  });
});

test('an @include below a relation is evaluated for each request of the same document', async () => {
  const document = parse(`query ($x: Boolean!) {
    file(base: {eq: "b.png"}) { childImageProc { id ...More } children { id ... @include(if: $x) { internal { type } } } }
  }
  fragment More on ImageProc { internal @include(if: $x) { type } }`);
  const answer = (x: boolean) => execute({ schema, document, contextValue, variableValues: { x } });
  expect(await answer(false)).toEqual({ data: { file: { childImageProc: { id: 'i1' }, children: [{ id: 'i1' }] } } });
  const image = { id: 'i1', internal: { type: 'ImageProc' } };
  expect(await answer(true)).toEqual({ data: { file: { childImageProc: image, children: [image] } } });
});

describe('a connection', () => {
  test('returns nodes, edges with neighbours on the page, and page information', async () => {
    const query = `{ allFile(sort: {fields: [size], order: [DESC]}, skip: 1, limit: 2) {
      totalCount nodes { base } edges { previous { base } node { base } next { size } }
      pageInfo { currentPage hasNextPage hasPreviousPage itemCount pageCount perPage totalCount } } }`;
    expect(await ask(query)).toEqual({
      allFile: {
        totalCount: 5,
        nodes: [{ base: 'd.png' }, { base: 'c.md' }],
        edges: [
          { previous: null, node: { base: 'd.png' }, next: { size: 20 } },
          { previous: { base: 'd.png' }, node: { base: 'c.md' }, next: null },
        ],
        pageInfo: {
          currentPage: 2,
          hasNextPage: true,
          hasPreviousPage: true,
          itemCount: 2,
          pageCount: 3,
          perPage: 2,
          totalCount: 5,
        },
      },
    });
  });

  test('groups and lists the values of its page, and counts the records of all pages', async () => {
    const query =
      '{ allFile(limit: 3) { totalCount distinct(field: extension) group(field: extension, limit: 1, skip: 1) { field fieldValue totalCount nodes { base } pageInfo { pageCount } } } }';
    expect(await ask(query)).toEqual({
      allFile: {
        totalCount: 5,
        distinct: ['md', 'png'],
        group: [
          {
            field: 'extension',
            fieldValue: 'md',
            totalCount: 2,
            nodes: [{ base: 'c.md' }],
            pageInfo: { pageCount: 2 },
          },
          { field: 'extension', fieldValue: 'png', totalCount: 1, nodes: [], pageInfo: { pageCount: 1 } },
        ],
      },
    });
  });

  test('sorts groups by their value or their number of records', async () => {
    const sizes =
      'a: group(field: extension, sort: {by: COUNT}) { fieldValue } b: group(field: extension, sort: {order: DESC}) { fieldValue }';
    expect(await ask(`{ allFile { ${sizes} } }`)).toEqual({
      allFile: { a: [{ fieldValue: 'png' }, { fieldValue: 'md' }], b: [{ fieldValue: 'png' }, { fieldValue: 'md' }] },
    });
  });

  test('returns the path of a group with dots, also if a variable names the field', async () => {
    const query =
      'query ($field: FileFieldsEnum!) { allFile { group(field: $field) { field fieldValue totalCount } } }';
    expect(await ask(query, { field: 'children___internal___type' })).toEqual({
      allFile: { group: [{ field: 'children.internal.type', fieldValue: 'ImageProc', totalCount: 2 }] },
    });
  });

  test.each([
    ['sort: {}', 5],
    ['sort: null', 5],
    ['sort: {fields: null, order: [DESC]}', 5],
    ['limit: null, skip: null', 5],
    ['filter: null', 5],
    ['filter: {or: [{extension: {eq: "png"}}, {size: {eq: 0}}]}', 3],
    ['filter: {or: []}', 0],
    ['filter: {not: {extension: {eq: "png"}}}', 3],
    ['filter: {not: {}}', 5],
    ['filter: {not: {childImageProc: {not: {id: {ne: null}}}}}', 2],
    ['filter: {base: null}', 5],
    ['filter: {mtime: {gte: "2020-02-02", lt: "2020-02-04"}}', 2],
    ['filter: {childImageProc: {id: {eq: null}}}', 3],
    ['filter: {parent: {id: {eq: null}}}', 5],
    ['filter: {publicURL: {glob: "**/a%20b.md"}}', 1],
  ])('accepts %s', async (args, totalCount) => {
    expect(await ask(`{ allFile(${args}) { totalCount } }`)).toEqual({ allFile: { totalCount } });
  });

  test.each([
    ['limit: -1', 'Expected limit to be 0 or more; received -1.'],
    ['skip: -2', 'Expected skip to be 0 or more; received -2.'],
    ['filter: {base: {regex: "abc"}}', 'received the flags "abc"'],
    ['filter: {mtime: {gt: 2019}}', 'Expected a date as text'],
  ])('rejects %s', async (args, message) => {
    await expect(ask(`{ allFile(${args}) { totalCount } }`)).rejects.toThrow(message);
  });
});

describe('fields of records', () => {
  test('lead to related records of every type', async () => {
    const query = `{ file(base: {eq: "b.png"}) { parent { id } children { __typename id ...Parent } childImageProc { ...Parent } }
      sitePage { pluginCreator { name } } }
      fragment Parent on Node { parent { __typename internal { type } ... on File { base } ... on Directory { name } } }`;
    const parent = { __typename: 'File', internal: { type: 'File' }, base: 'b.png' };
    expect(await ask(query)).toEqual({
      file: { parent: null, children: [{ __typename: 'ImageProc', id: 'i1', parent }], childImageProc: { parent } },
      sitePage: { pluginCreator: { name: 'p' } },
    });
  });

  test('contain objects and lists, and null for an object without any value', async () => {
    const query =
      '{ allSitePlugin { nodes { nodeAPIs packageJson { name dependencies { name } } } } site { polyfill siteMetadata { title author } } }';
    expect(await ask(query)).toEqual({
      allSitePlugin: {
        nodes: [
          { nodeAPIs: ['a', 'b'], packageJson: { name: null, dependencies: [{ name: 'x' }] } },
          { nodeAPIs: null, packageJson: null },
        ],
      },
      site: { polyfill: true, siteMetadata: { title: 'T', author: null } },
    });
  });

  test('format dates that are aliases or computed', async () => {
    const query =
      '{ file { modifiedTime(formatString: "YYYY") mtime } site { buildTime(formatString: "D MMMM") port(formatString: "YYYY-MM-DD") } }';
    expect(await ask(query)).toEqual({
      file: { modifiedTime: '2020', mtime: '2020-02-01T00:00:00.000Z' },
      site: { buildTime: '6 May', port: '8000-01-01' },
    });
  });

  test('can be selected under two aliases, and skipped by a variable', async () => {
    const query =
      'query ($no: Boolean!) { a: file { x: base @skip(if: $no) size } b: file { y: base ... @include(if: $no) { size } } }';
    expect(await ask(query, { no: true })).toEqual({ a: { size: 0 }, b: { y: 'a b.md', size: 0 } });
    expect(await ask(query, { no: false })).toEqual({ a: { x: 'a b.md', size: 0 }, b: { y: 'a b.md' } });
  });

  test('return the URL of a public copy without creating the copy', async () => {
    expect(await ask('{ file { publicURL } }')).toEqual({ file: { publicURL: `/static/${DIGEST}/a%20b.md` } });
    await expect(readdir(directory)).resolves.not.toContain('static');
  });
});

describe('whole numbers beyond 32 bits', () => {
  const LARGE = 3_221_225_472;

  beforeAll(() => store.write((writer) => writer.put('File', { id: 'large', size: LARGE, ...internal('File') }, 50)));
  afterAll(() => store.write((writer) => writer.remove('File', 'large')));

  test('are returned in lists like other values', async () => {
    const data = (await ask('{ allFile { totalCount nodes { size } } }')) as { allFile: { nodes: unknown[] } };
    expect(data).toMatchObject({ allFile: { totalCount: 6 } });
    expect(data.allFile.nodes).toContainEqual({ size: LARGE });
  });

  test.each([
    ['as a literal', '{ allFile(filter: { size: { gt: 3000000000 } }) { nodes { size } } }', {}],
    ['as a variable', 'query ($n: Int) { allFile(filter: { size: { gt: $n } }) { nodes { size } } }', { n: 3e9 }],
    ['in a list', 'query ($n: [Int]) { allFile(filter: { size: { in: $n } }) { nodes { size } } }', { n: [LARGE] }],
  ])('filter %s', async (_how, query, variables) => {
    expect(await ask(query, variables)).toEqual({ allFile: { nodes: [{ size: LARGE }] } });
  });

  test.each([
    ['2^53', '{ allFile(filter: { size: { gt: 9007199254740992 } }) { totalCount } }'],
    ['a fraction', '{ allFile(limit: 1.5) { totalCount } }'],
    ['text', '{ allFile(limit: "1") { totalCount } }'],
  ])('do not include %s', async (_what, source) => {
    const { errors } = await graphql({ schema, source, contextValue });
    expect(errors?.[0]?.message).toMatch(/^Expected a whole number/);
  });

  test('do not affect the Int of graphql-js in other schemas', () => {
    expect(buildSchema('type Query { size: Int }').getType('Int')).toBe(GraphQLInt);
    expect(() => GraphQLInt.serialize(LARGE)).toThrow('32-bit');
    expect(schema.getType('Int')).not.toBe(GraphQLInt);
  });
});
