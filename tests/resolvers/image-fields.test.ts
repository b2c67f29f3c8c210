import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Images, openImages } from '@trellis/images/images';
import { OperationBudget } from '@trellis/server/graphql/budget';
import { createPublicPath } from '@trellis/site/public-files';
import { createFormatDate } from '@trellis/site/query/dates';
import { openSite, type Site } from '@trellis/site/site';
import { execute, graphql, parse } from 'graphql';
import sharp from 'sharp';
import { records } from '../../src/generated/site/records.js';
import { createSiteContext, type SiteServices } from '../../src/resolvers/context.js';
import { ALLOW_ALL } from '../../src/resolvers/stored-arguments.js';
import { createImageSources } from '../../src/site-data/images.js';
import { buildSiteSchema } from './site-schema.js';

const schema = buildSiteSchema();
const LIMITS = { values: 1e6, workMs: 10_000, timeoutMs: 60_000 };

let folder: string;
let site: Site;
let images: Images;
let services: SiteServices;
/** The number of calls that read a header. */
let reads = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'image-fields-'));
  const directory = path.join(folder, 'site');
  const stateDirectory = path.join(folder, 'state');
  await mkdir(directory);
  for (const [name, width, height] of [
    ['a-wide.png', 900, 300],
    ['b-small.png', 20, 10],
    ['c-tall.png', 300, 600],
  ] as const) {
    const image = sharp({ create: { width, height, channels: 3, background: 'teal' } });
    await image.toFile(path.join(directory, name));
  }
  await writeFile(path.join(directory, 'd-broken.png'), 'not an image');
  await writeFile(path.join(directory, 'e.md'), '# Text');
  site = await openSite({ directory, stateDirectory, tables: records });
  const pictures = createImageSources(site.store);
  images = openImages({ stateDirectory, findSource: pictures.find });
  services = {
    records: site.store,
    publicFiles: { pathOf: createPublicPath(), linkTo: createPublicPath() },
    pictures,
    images: { ...images, original: (source) => ((reads += 1), images.original(source)) },
    imagePolicy: ALLOW_ALL,
    formatDate: createFormatDate(),
  };
});

afterAll(async () => {
  await images.close();
  site.close();
  await rm(folder, { recursive: true });
});

const contextValue = () => createSiteContext(services, new OperationBudget(LIMITS));

const ask = async (source: string) =>
  JSON.parse(JSON.stringify(await graphql({ schema, source, contextValue: contextValue() }))) as {
    data: Record<string, never>;
    errors?: { message: string }[];
  };

const NAMES = '{ nodes { parent { ... on File { name } } } }';

async function namesOf(args: string): Promise<string[]> {
  const { data, errors } = await ask(`{ allImageProc(${args}) ${NAMES} }`);
  if (errors) throw new Error(errors[0]?.message);
  const { nodes } = data.allImageProc as unknown as { nodes: { parent: { name: string } }[] };
  return nodes.map(({ parent }) => parent.name);
}

describe('a filter by a computed image field', () => {
  test.each([
    ['original', 'filter: {original: {width: {gt: 100}}}', ['a-wide', 'c-tall']],
    [
      'fixed, with a default width of 400 or that of a smaller source',
      'filter: {fixed: {width: {eq: 400}}}',
      ['a-wide'],
    ],
    ['resolutions, the deprecated name of fixed', 'filter: {resolutions: {width: {eq: 300}}}', ['c-tall']],
    ['fluid', 'filter: {fluid: {presentationWidth: {in: [800, 300]}}}', ['a-wide', 'c-tall']],
    ['resize', 'filter: {resize: {originalName: {glob: "b-*"}}}', ['b-small']],
    ['a link', 'filter: {fixed: {src: {regex: "/a-wide\\\\.png$/"}}}', ['a-wide']],
    ['an unreadable image, which has no value', 'filter: {original: {width: {eq: null}}}', ['d-broken']],
    [
      'several fields',
      'filter: {or: [{original: {width: {lt: 50}}}, {fluid: {aspectRatio: {gt: 2.9}}}]}',
      ['a-wide', 'b-small'],
    ],
    ['the negation of a condition', 'filter: {not: {original: {height: {gte: 300}}}}', ['b-small', 'd-broken']],
  ])('supports %s', async (_reason, args, expected) => {
    expect(await namesOf(args)).toEqual(expected);
  });

  test('works through the file of the image, for one record and for many', async () => {
    const wide = 'childImageProc: {original: {width: {eq: 900}}}';
    const { data } = await ask(`{ file(${wide}) { name } allFile(filter: {${wide}}) { totalCount } }`);
    expect(data).toEqual({ file: { name: 'a-wide' }, allFile: { totalCount: 1 } });
  });
});

test('sorting by a computed image field puts missing values last, or first if descending', async () => {
  expect(await namesOf('sort: {fields: [original___width]}')).toEqual(['b-small', 'c-tall', 'a-wide', 'd-broken']);
  const descending = 'sort: {fields: [original___width], order: [DESC]}, limit: 2';
  expect(await namesOf(descending)).toEqual(['d-broken', 'a-wide']);
});

test('group and distinct support computed image fields, also if a variable names the field', async () => {
  const query = `query ($field: ImageProcFieldsEnum!) {
    allImageProc { distinct(field: $field) group(field: $field) { fieldValue nodes { original { height } } } }
  }`;
  const variableValues = { field: 'original___width' };
  const { data } = await graphql({ schema, source: query, contextValue: contextValue(), variableValues });
  expect(JSON.parse(JSON.stringify(data?.allImageProc))).toEqual({
    distinct: ['20', '300', '900'],
    group: [
      { fieldValue: '20', nodes: [{ original: { height: 10 } }] },
      { fieldValue: '300', nodes: [{ original: { height: 600 } }] },
      { fieldValue: '900', nodes: [{ original: { height: 300 } }] },
    ],
  });
});

/** Queries within a transaction that fails may have seen any change, so no result is reused. */
function forgetResults(): void {
  const write = (): void =>
    site.store.write(() => {
      throw new Error('no record changes');
    });
  expect(write).toThrow('no record changes');
}

test('groups contain their records in the order of a computed image field', async () => {
  forgetResults();
  const { data } = await ask(
    '{ allImageProc(sort: {fields: [original___width]}) { group(field: internal___type) { nodes { original { width } } } } }',
  );
  const widths = [20, 300, 900].map((width) => ({ original: { width } }));
  expect(data.allImageProc).toMatchObject({ group: [{ nodes: [...widths, { original: null }] }] });
});

test('an unreadable image is an error on its field that names the file, without affecting other data', async () => {
  const { data, errors } = await ask('{ allImageProc { nodes { original { width } } } }');
  const widths = [900, 20, 300].map((width) => ({ original: { width } }));
  expect(data).toEqual({ allImageProc: { nodes: [...widths, { original: null }] } });
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('"d-broken.png"') as string })]);
});

test('computed values are cached until a record changes, and computed only for records that match in SQL', async () => {
  forgetResults();
  reads = 0;
  const args = 'filter: {parent: {id: {ne: null}}, original: {width: {gt: 100}}}, sort: {fields: [original___height]}';
  expect(await namesOf(args)).toEqual(['a-wide', 'c-tall']);
  expect(await namesOf(args)).toEqual(['a-wide', 'c-tall']);
  expect(reads).toBe(4);
  forgetResults();
  const one = 'filter: {internal: {contentDigest: {eq: "none"}}, original: {width: {gt: 100}}}';
  expect(await namesOf(one)).toEqual([]);
  expect(reads).toBe(4);
});

test('a query of stored fields is executed synchronously', () => {
  // A statement that takes long, such as on a busy machine, would give way to others.
  const unlimited = Object.assign(new OperationBudget(LIMITS), { statementMs: Infinity });
  const document = parse('{ allFile(filter: {size: {gt: 1}}) { totalCount nodes { childImageProc { id } } } }');
  expect(execute({ schema, document, contextValue: createSiteContext(services, unlimited) })).not.toBeInstanceOf(
    Promise,
  );
});
