import { createHash } from 'node:crypto';
import path from 'node:path';
import { findText, listFiles, writeFiles } from './files.js';

/** The digests of the last run of a target. */
export interface CacheEntry {
  /** Digest of the documents and the generating code. */
  inputs: string;
  /** Path below `src/generated` → digest of its text. */
  outputs: Readonly<Record<string, string>>;
}

/** Target name → the digests of its last run. */
export type Cache = Readonly<Record<string, CacheEntry>>;

const FOLDER = '.cache';
const FILE = 'generate.json';

/** Reads the cache. A missing or invalid cache counts as empty, which only costs time. */
export async function readCache(root: string): Promise<Cache> {
  try {
    const cache: unknown = JSON.parse((await findText(path.join(root, FOLDER, FILE))) ?? '{}');
    return isRecord(cache) && Object.values(cache).every(isEntry) ? (cache as Cache) : {};
  } catch {
    return {};
  }
}

export async function writeCache(root: string, cache: Cache): Promise<void> {
  await writeFiles(path.join(root, FOLDER), new Map([[FILE, JSON.stringify(cache)]]));
}

/** Returns a digest of named texts, including which name belongs to which text. */
export function digestTexts(texts: Iterable<readonly [name: string, text: string]>): string {
  const hash = createHash('sha256');
  // The lengths make the boundary between name and text unambiguous.
  for (const [name, text] of texts) hash.update(`${name.length} ${text.length} `).update(name).update(text);
  return hash.digest('hex');
}

/** Returns a digest of the generating code: the generators, `codegen.ts` and the versions of the libraries. */
export async function digestGenerators(root: string): Promise<string> {
  const generators = (await listFiles(path.join(root, 'src/codegen'))).map((name) => `src/codegen/${name}`);
  const files = ['codegen.ts', 'package-lock.json', ...generators];
  const texts = await Promise.all(files.map((file) => findText(path.join(root, file))));
  return digestTexts(files.map((file, index) => [file, texts[index] ?? '']));
}

function isEntry(value: unknown): boolean {
  return isRecord(value) && typeof value.inputs === 'string' && isRecord(value.outputs);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
