import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StoredQuery } from '@trellis/site/graphql/stored-queries';
import { scene } from '../../packages/images/tests/image-folder.js';
import { allowStoredArguments, parseStoredQuery } from '../../src/resolvers/stored-arguments.js';
import { collect, runCli, type RunningServer, startServer } from '../running-server.js';
import { buildSiteSchema } from './site-schema.js';

const schema = buildSiteSchema();

const stored = (text: string, variables: StoredQuery['variables'] = [{}]): StoredQuery => ({
  file: 'queries/a.graphql',
  text,
  variables,
});

test('an invalid stored query is reported with its file and position', () => {
  expect(() => allowStoredArguments(schema, [stored('{ nothing }')])).toThrow(
    'queries/a.graphql:1:3: Cannot query field "nothing"',
  );
  expect(() => parseStoredQuery(schema, stored('{ file { id } } query B { site { id } }'))).toThrow(
    'exactly one operation',
  );
  expect(() => parseStoredQuery(schema, stored('{ imageProc { gatsbyImageData } }'))).toThrow(
    'queries/a.graphql:1:15: Cannot query field "gatsbyImageData" on type "ImageProc". Use fluid, fixed or resize.',
  );
  const needy = stored('query A($width: Int!) { imageProc { resize(width: $width) { src } } }');
  expect(() => allowStoredArguments(schema, [needy])).toThrow('queries/a.graphql:1:9: Variable "$width"');
});

describe('a server with images.recipes: stored', () => {
  let site: string;
  let server: RunningServer;
  beforeAll(async () => {
    site = await mkdtemp(path.join(tmpdir(), 'trellis-stored-'));
    await mkdir(path.join(site, 'queries'));
    await writeFile(path.join(site, 'photo.jpg'), await scene(900, 600).jpeg().toBuffer());
    await writeFile(path.join(site, 'site.config.json'), '{ "images": { "recipes": "stored" } }');
    const query = `query Page($width: Int, $sepia: DuotoneGradient) {
      allImageProc { nodes { ...Thumbnail resolutions(width: 50) { src } resize(width: $width, duotone: $sepia) { src } } }
    }
    fragment Thumbnail on ImageProc { fluid(maxWidth: 300, traceSVG: { color: "red" }) { src } }`;
    await writeFile(path.join(site, 'queries/page.graphql'), query);
    const sepia = { shadow: '#000000', highlight: '#ffeecc' };
    await writeFile(
      path.join(site, 'queries/page.variables.json'),
      JSON.stringify([{ width: 10 }, { width: 20, sepia }]),
    );
    server = await startServer(['--site', site]);
  });
  afterAll(async () => {
    await server.stop();
    await rm(site, { recursive: true });
  });

  async function ask(fields: string, variables: object = {}) {
    const response = await fetch(`${server.origin}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: `query Q${fields.includes('$w') ? '($w: Int)' : ''} { imageProc { id ${fields} } }`,
        variables,
      }),
    });
    return (await response.json()) as {
      data: { imageProc: Record<string, { src: string } | null> };
      errors?: { message: string; path: string[]; extensions: { code: string } }[];
    };
  }

  test.each<[string, string, object]>([
    ['in a fragment', 'fluid(maxWidth: 300, traceSVG: { color: "red" }) { src }', {}],
    [
      'in a different order, with explicit defaults',
      'fluid(fit: COVER, traceSVG: { color: "red" }, maxWidth: 300) { src }',
      {},
    ],
    ['of a field that a stored query uses by its deprecated name', 'fixed(width: 50) { src }', {}],
    ['of the first set of variables', 'resize(width: 10) { src }', {}],
    ['given by a variable', 'resize(width: $w) { src }', { w: 10 }],
    [
      'of the second set of variables',
      'resize(width: 20, duotone: { highlight: "#ffeecc", shadow: "#000000" }) { src }',
      {},
    ],
  ])('allows arguments %s', async (_reason, field, variables) => {
    const { data, errors } = await ask(`image: ${field}`, variables);
    expect(errors).toBeUndefined();
    await expect(fetch(server.origin + data.imageProc.image!.src)).resolves.toMatchObject({ status: 200 });
  });

  test.each<[string, string, object]>([
    ['a field without arguments', 'fluid { src }', {}],
    ['a different size', 'resize(width: 11) { src }', {}],
    ['a different size in a variable', 'resize(width: $w) { src }', { w: 11 }],
    ['the arguments of a different field', 'resize(width: 50) { src }', {}],
    [
      'a mixture of two sets of variables',
      'resize(width: 10, duotone: { highlight: "#ffeecc", shadow: "#000000" }) { src }',
      {},
    ],
    ['an inline image that no stored query has', 'resize(width: 10, base64: true) { src }', {}],
  ])('rejects %s with an error on its field', async (_reason, field, variables) => {
    const { data, errors } = await ask(`image: ${field} resize(width: 10) { src }`, variables);
    expect(errors).toEqual([
      expect.objectContaining({
        path: ['imageProc', 'image'],
        message: expect.stringMatching(
          /^No stored query of this site uses these arguments of "\w+", .*stored/u,
        ) as string,
        extensions: expect.objectContaining({ code: 'forbidden' }) as object,
      }),
    ]);
    expect(data.imageProc).toMatchObject({ image: null, resize: { src: expect.any(String) as string } });
  });

  test('allows links to the original', async () => {
    await expect(ask('original { src }')).resolves.not.toHaveProperty('errors');
  });

  test('does not start with an invalid stored query, and reports its position', async () => {
    const other = await mkdtemp(path.join(tmpdir(), 'trellis-stored-'));
    await mkdir(path.join(other, 'queries'));
    await writeFile(path.join(other, 'site.config.json'), '{ "images": { "recipes": "stored" } }');
    await writeFile(path.join(other, 'queries/b.graphql'), '{ nothing }');
    const child = runCli([
      'serve',
      '--port',
      '0',
      '--services',
      'site',
      '--site',
      other,
      '--state',
      path.join(other, '.trellis'),
    ]);
    const output = collect(child);
    await expect(once(child, 'close')).resolves.toEqual([1, null]);
    expect(output()).toContain('queries/b.graphql:1:3: Cannot query field "nothing"');
    await rm(other, { recursive: true });
  });
});
