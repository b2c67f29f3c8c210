import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles } from '../../src/codegen/files.js';
import { findViolations } from './find-violations.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function listSources(folder: string): Promise<string[]> {
  const files = await listFiles(path.join(root, folder));
  return files.filter((file) => /\.[jt]sx?$/u.test(file)).map((file) => `${folder}/${file}`);
}

test('every file imports only what its room may', async () => {
  const files = ['codegen.ts', ...(await listSources('scripts')), ...(await listSources('src'))];
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')));
  expect(files.flatMap((file, index) => findViolations(file, texts[index]!))).toEqual([]);
});

test.each([
  ['src/site/a.ts', "import { b } from '../server/b.js';", 'a domain knows its transport'],
  ['src/site/a.ts', "import { b } from '../images/b.js';", 'a domain knows another'],
  ['src/site/a.ts', "import { b } from '../accounts/tokens.js';", 'a domain knows more of accounts than callers'],
  ['src/site/config/a.ts', "import { b } from '../../secrets/b.js';", 'it lies deeper'],
  ['src/secrets/a.ts', "import express from 'express';", 'a domain uses express'],
  ['src/images/a.ts', "import { parse } from 'graphql/language/parser.js';", 'a domain uses part of graphql'],
  ['src/handlers/dashboard/a.ts', "import { b } from '../../dashboard/b.js';", 'a handler reaches past its services'],
  ['src/handlers/a.ts', "import { b } from 'node:fs';", 'a handler does its own work'],
  ['src/resolvers/a.ts', "import sharp from 'sharp';", 'a resolver does its own work'],
  ['src/resolvers/a.ts', "export { b } from '../site/b.js';", 'it is exported again'],
  ['src/client/a.ts', "import { b } from 'node:crypto';", 'the client runs in browsers'],
  ['src/client/a.ts', "import { b } from 'crypto';", "Node's own names need no prefix"],
  ['src/codegen/a.ts', "import { b } from '../errors.js';", 'the generators stand alone'],
  ['src/main.ts', "import { b } from './server/b.js';", 'only app knows the server'],
  ['src/storage/a.ts', "const b = await import('../site/b.js');", 'it is loaded later'],
  ['src/storage/a.ts', "import '../site/b.js';", 'it is imported for its effect'],
  ['src/storage/a.ts', "import { type A, b } from '../site/b.js';", 'one of its names is a value'],
  ['src/generated/dashboard/a.js', "const b = require('../../site/b.js');", 'it is required'],
  ['src/kitchen/a.ts', "import { b } from 'b';", 'its room is in no table'],
  ['scripts/a.ts', "import { b } from '../src/site/b.js';", 'a script is more than thin'],
  ['src/site/a.ts', 'export default 1;', 'it exports a default'],
  ['src/site/a.ts', 'export default function a() {}', 'its function is the default'],
  ['src/site/a.ts', 'const a = 1;\nexport { a as default };', 'it is renamed to the default'],
  ['src/site/a.ts', 'const a = process.env.HOME;', 'it reads the environment'],
  ['src/site/a.ts', "const a = process['env'];", 'it reads the environment by a bracket'],
  ['src/site/a.ts', 'const { env } = process;', 'it takes the environment'],
  ['src/site/a.ts', "import { env } from 'node:process';", 'it imports the environment'],
])('names %s for %s: %s', (file, text) => {
  expect(findViolations(file, text)).toEqual([
    expect.stringMatching(new RegExp(`^${file}:${text.split('\n').length} `)),
  ]);
});

test.each([
  ['src/site/a.ts', "import type { B } from '../server/b.js';", 'types are free'],
  ['src/handlers/a.ts', "import { type B, type C } from '../site/b.js';", 'so are names that are types'],
  ['src/handlers/a.ts', "export type { B } from '../site/b.js';", 'so are types exported again'],
  ['src/site/a.ts', "import { b } from './sources/b.js';", 'its room is its own'],
  ['src/site/a.ts', "import { b } from '../errors.js';", 'errors are everybody\u2019s'],
  ['src/site/a.ts', "import { b } from '../accounts/callers.js';", 'a domain asks who calls'],
  ['src/client/a.ts', "import createClient from 'openapi-fetch';", 'the client uses npm'],
  ['src/generated/site/a.ts', 'export default 1;', 'it is generated'],
  ['src/codegen/site/load-schema.ts', 'export default 1;', 'graphql-codegen loads its default export'],
  ['src/config.ts', 'const a = process.env.HOME;', 'one file reads the environment'],
  ['src/site/a.ts', "// import { b } from '../server/b.js';\nconst a = 'process.env';", 'it only speaks of it'],
  ['codegen.ts', "const b = await import('./src/codegen/b.js');", 'the table loads generators'],
])('allows %s to hold %s: %s', (file, text) => {
  expect(findViolations(file, text)).toEqual([]);
});
