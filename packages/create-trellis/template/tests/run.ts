/** Runs the tests of this folder. */
import { readdir } from 'node:fs/promises';

const names = await readdir(new URL('.', import.meta.url));
for (const name of names.filter((one) => one.endsWith('.test.ts'))) await import(`./${name}`);
