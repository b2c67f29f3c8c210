import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles } from '@trellis/codegen/files';
import { findViolations } from './find-violations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function listSources(folder: string): Promise<string[]> {
  const files = await listFiles(path.join(root, folder));
  return files.filter((file) => /\.[jt]sx?$/u.test(file)).map((file) => `${folder}/${file}`);
}

test('every file follows the import rules of its folder', async () => {
  const files = ['codegen.ts', ...(await listSources('scripts')), ...(await listSources('src'))];
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')));
  expect(files.flatMap((file, index) => findViolations(file, texts[index]!))).toEqual([]);
});

test.each([
  ['src/site/a.ts', "import { b } from '../server/b.js';", 'a domain imports the transport'],
  ['src/site/a.ts', "import { b } from '../images/b.js';", 'a domain imports a different domain'],
  ['src/site/a.ts', "import { b } from '../accounts/tokens.js';", 'a domain imports more of accounts than callers'],
  ['src/site/config/a.ts', "import { b } from '../../secrets/b.js';", 'the file is in a subfolder'],
  ['src/secrets/a.ts', "import express from 'express';", 'a domain uses express'],
  ['src/images/a.ts', "import { parse } from 'graphql/language/parser.js';", 'a domain uses part of graphql'],
  ['src/handlers/dashboard/a.ts', "import { b } from '../../dashboard/b.js';", 'a handler bypasses its services'],
  ['src/handlers/a.ts', "import { b } from 'node:fs';", 'a handler imports a library for its work'],
  ['src/resolvers/a.ts', "import sharp from 'sharp';", 'a resolver imports a library for its work'],
  ['src/resolvers/a.ts', "export { b } from '../site/b.js';", 'a re-export counts as an import'],
  ['src/client/a.ts', "import { b } from 'node:crypto';", 'the client runs in browsers'],
  ['src/client/a.ts', "import { b } from 'crypto';", 'built-in modules need no prefix'],
  ['src/codegen/a.ts', "import { b } from '../core/errors.js';", 'the generators are independent'],
  ['src/main.ts', "import { b } from './server/b.js';", 'only app may import the server'],
  ['src/storage/a.ts', "const b = await import('../site/b.js');", 'a dynamic import counts'],
  ['src/storage/a.ts', "import '../site/b.js';", 'an import for side effects counts'],
  ['src/storage/a.ts', "import { type A, b } from '../site/b.js';", 'one imported name is a value'],
  ['src/generated/dashboard/a.js', "const b = require('../../site/b.js');", 'require() counts'],
  ['src/kitchen/a.ts', "import { b } from 'b';", 'its folder has no rule'],
  ['scripts/a.ts', "import { b } from '../src/site/b.js';", 'a script imports the site'],
  ['src/server/a.ts', "import type { B } from '../accounts/b.js';", 'a self-contained folder imports a type'],
  ['src/site/a.ts', 'export default 1;', 'it has a default export'],
  ['src/site/a.ts', 'export default function a() {}', 'it has a default function'],
  ['src/site/a.ts', 'const a = 1;\nexport { a as default };', 'it exports a name as the default'],
  ['src/site/a.ts', 'const a = process.env.HOME;', 'it reads the environment'],
  ['src/site/a.ts', "const a = process['env'];", 'it reads the environment with brackets'],
  ['src/site/a.ts', 'const { env } = process;', 'it destructures the environment'],
  ['src/site/a.ts', "import { env } from 'node:process';", 'it imports the environment'],
])('findViolations reports %s for %s: %s', (file, text) => {
  expect(findViolations(file, text)).toEqual([
    expect.stringMatching(new RegExp(`^${file}:${text.split('\n').length} `)),
  ]);
});

test.each([
  ['src/site/a.ts', "import type { B } from '../server/b.js';", 'type imports are allowed'],
  ['src/handlers/a.ts', "import { type B, type C } from '../site/b.js';", 'inline type imports are allowed'],
  ['src/handlers/a.ts', "export type { B } from '../site/b.js';", 'type re-exports are allowed'],
  ['src/site/a.ts', "import { b } from './sources/b.js';", 'its own folder is allowed'],
  ['src/site/a.ts', "import { b } from '../core/errors.js';", 'every folder may import errors'],
  ['src/site/a.ts', "import { b } from '../accounts/callers.js';", 'a domain may import callers'],
  ['src/client/a.ts', "import createClient from 'openapi-fetch';", 'the client may import npm packages'],
  ['src/generated/site/a.ts', 'export default 1;', 'generated code may have a default export'],
  ['src/codegen/site/load-schema.ts', 'export default 1;', 'graphql-codegen needs its default export'],
  ['src/config/config.ts', 'const a = process.env.HOME;', 'config.ts may read the environment'],
  [
    'src/site/a.ts',
    "// import { b } from '../server/b.js';\nconst a = 'process.env';",
    'comments and strings are ignored',
  ],
  ['codegen.ts', "const b = await import('./src/codegen/b.js');", 'the list of targets loads generators'],
])('findViolations accepts %s with %s: %s', (file, text) => {
  expect(findViolations(file, text)).toEqual([]);
});
