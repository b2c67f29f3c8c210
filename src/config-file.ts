import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { StartupError } from './startup-error.js';

const NAMES = ['json', 'yaml', 'yml', 'js', 'mjs'].map((extension) => `trellis.config.${extension}`);

export interface ConfigFile {
  readonly file: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * Reads the named configuration file, or else the one in the folder. The content of a script is its default export.
 *
 * @returns `undefined` when no file is named and the folder has none.
 * @throws StartError when the file can't be read, does not contain an object, or the folder has several.
 */
export async function readConfigFile(folder: string, named?: string): Promise<ConfigFile | undefined> {
  const file = named === undefined ? find(folder) : resolve(folder, named);
  if (file === undefined) return undefined;
  const content = await read(file).catch((cause: unknown) => {
    throw new StartupError(`${file}: not a valid configuration file: ${oneLine(cause)}`, { cause });
  });
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new StartupError(`${file}: not a valid configuration file: the content must be an object`);
  }
  return { file, content: content as Record<string, unknown> };
}

function find(folder: string): string | undefined {
  const [file, other] = NAMES.map((name) => join(folder, name)).filter((candidate) => existsSync(candidate));
  if (file && other) throw new StartupError(`Found two configuration files: ${file} and ${other}. Remove one`);
  return file;
}

async function read(file: string): Promise<unknown> {
  if (['.js', '.mjs'].includes(extname(file))) {
    const script = (await import(pathToFileURL(file).href)) as { default?: unknown };
    return script.default;
  }
  const text = await readFile(file, 'utf8');
  return extname(file) === '.json' ? JSON.parse(text) : parse(text);
}

const oneLine = (cause: unknown) =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, ' ').trim();
