import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles } from '@trellis/codegen/documents';
import { findViolations } from './find-violations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function listSources(folder: string): Promise<string[]> {
  const files = await listFiles(path.join(root, folder));
  return files.filter((file) => /\.[jt]sx?$/u.test(file)).map((file) => `${folder}/${file}`);
}

test('every file follows the import rules of its folder', async () => {
  const packages = (await listSources('packages')).filter((file) => /^packages\/[^/]+\/(?:src|tests)\//u.test(file));
  const files = ['codegen.ts', ...(await listSources('scripts')), ...(await listSources('src')), ...packages];
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')));
  expect(files.flatMap((file, index) => findViolations(file, texts[index]!))).toEqual([]);
});

test.each([
  ['src/secrets/a.ts', "import { b } from '@trellis/server/b';", 'a domain imports the transport'],
  ['src/secrets/a.ts', "import { b } from '../dashboard/b.js';", 'a domain imports a different domain'],
  ['packages/site/src/a.ts', "import { b } from '@trellis/images/b';", 'a package imports a different package'],
  ['packages/site/src/a.ts', "import type { B } from '@trellis/images/b';", 'a package imports a type of another'],
  ['packages/site/src/a.ts', "import { b } from '../../../src/storage/b.js';", 'a package imports the product'],
  [
    'packages/site/src/a.ts',
    "import type { B } from '../../../src/generated/site/b.js';",
    'a package imports a type of the product',
  ],
  ['packages/site/src/a.ts', "import { b } from '../tests/b.js';", 'a package imports its tests'],
  [
    'packages/site/tests/a.ts',
    "import { b } from '../../../tests/b.js';",
    'a test of a package imports a test of the root',
  ],
  [
    'packages/site/tests/a.ts',
    "import type { B } from '../../../src/storage/b.js';",
    'it imports a type of the product',
  ],
  ['packages/codegen/tests/a.ts', "import config from '../../../codegen.js';", 'it imports settings of the product'],
  ['packages/site/tests/a.ts', "import { b } from '@trellis/images/b';", 'it imports a different package'],
  ['src/secrets/a.ts', "import { b } from '../accounts/tokens.js';", 'a domain imports more of accounts than callers'],
  ['src/dashboard/boards/a.ts', "import { b } from '../../secrets/b.js';", 'the file is in a subfolder'],
  ['src/secrets/a.ts', "import express from 'express';", 'a domain uses express'],
  ['packages/images/src/a.ts', "import { parse } from 'graphql/language/parser.js';", 'a domain uses part of graphql'],
  ['src/handlers/dashboard/a.ts', "import { b } from '../../dashboard/b.js';", 'a handler bypasses its services'],
  ['src/handlers/a.ts', "import { b } from 'node:fs';", 'a handler imports a library for its work'],
  ['src/resolvers/a.ts', "import sharp from 'sharp';", 'a resolver imports a library for its work'],
  ['src/resolvers/a.ts', "export { b } from '@trellis/site/b';", 'a re-export counts as an import'],
  ['packages/client/src/a.ts', "import { b } from 'node:crypto';", 'the client runs in browsers'],
  ['packages/client/src/a.ts', "import { b } from 'crypto';", 'built-in modules need no prefix'],
  ['packages/codegen/src/a.ts', "import { b } from '@trellis/server/b';", 'the generators are independent'],
  ['src/program.ts', "import { b } from '@trellis/server/b';", 'only app and main may import the server'],
  ['src/storage/a.ts', "const b = await import('@trellis/site/b');", 'a dynamic import counts'],
  ['src/storage/a.ts', "import '@trellis/site/b';", 'an import for side effects counts'],
  ['src/storage/a.ts', "import { type A, b } from '@trellis/site/b';", 'one imported name is a value'],
  ['src/generated/dashboard/a.js', "const b = require('@trellis/site/b');", 'require() counts'],
  ['src/kitchen/a.ts', "import { b } from 'b';", 'its folder has no rule'],
  ['scripts/a.ts', "import { b } from '@trellis/site/b';", 'a script imports the site'],
  ['packages/site/src/a.ts', 'export default 1;', 'it has a default export'],
  ['packages/site/src/a.ts', 'export default function a() {}', 'it has a default function'],
  ['packages/site/src/a.ts', 'const a = 1;\nexport { a as default };', 'it exports a name as the default'],
  ['packages/site/src/a.ts', 'const a = process.env.HOME;', 'it reads the environment'],
  ['packages/site/src/a.ts', "const a = process['env'];", 'it reads the environment with brackets'],
  ['packages/site/src/a.ts', 'const { env } = process;', 'it destructures the environment'],
  ['packages/site/src/a.ts', "import { env } from 'node:process';", 'it imports the environment'],
])('findViolations reports %s for %s: %s', (file, text) => {
  expect(findViolations(file, text)).toEqual([
    expect.stringMatching(new RegExp(`^${file}:${text.split('\n').length} `)),
  ]);
});

test.each([
  ['src/secrets/a.ts', "import type { B } from '@trellis/server/b';", 'type imports are allowed'],
  ['src/handlers/a.ts', "import { type B, type C } from '@trellis/site/b';", 'inline type imports are allowed'],
  ['src/handlers/a.ts', "export type { B } from '@trellis/site/b';", 'type re-exports are allowed'],
  ['packages/site/src/a.ts', "import { b } from './sources/b.js';", 'its own folder is allowed'],
  ['packages/client/tests/a.ts', "import { b } from '../src/b.js';", 'tests of a package import the package'],
  ['packages/client/tests/query/a.ts', "import { b } from '../b.js';", 'they import each other'],
  ['packages/site/tests/a.ts', "import { b } from '@trellis/core/b';", 'they import what the package imports'],
  ['packages/client/tests/a.ts', "import { b } from 'node:http';", 'they may use any package from elsewhere'],
  ['packages/site/src/a.ts', "import { b } from '@trellis/core/errors';", 'every package may import errors'],
  ['src/secrets/a.ts', "import { b } from '../accounts/callers.js';", 'a domain may import callers'],
  ['packages/client/src/a.ts', "import createClient from 'openapi-fetch';", 'the client may import npm packages'],
  ['src/generated/site/a.ts', 'export default 1;', 'generated code may have a default export'],
  ['packages/codegen/src/site/load-schema.ts', 'export default 1;', 'graphql-codegen needs its default export'],
  ['src/config/environment.ts', 'const a = process.env.HOME;', 'environment.ts reads the environment'],
  [
    'packages/site/src/a.ts',
    "// import { b } from '@trellis/server/b';\nconst a = 'process.env';",
    'comments and strings are ignored',
  ],
  ['codegen.ts', "const b = await import('@trellis/codegen/b');", 'the list of targets loads generators'],
])('findViolations accepts %s with %s: %s', (file, text) => {
  expect(findViolations(file, text)).toEqual([]);
});
