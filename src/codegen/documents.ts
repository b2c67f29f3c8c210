import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { ContractError } from './contract-error.js';

/**
 * Reads the documents that match any of the patterns, sorted by path, so that the output does not depend on the
 * machine.
 *
 * @throws ContractError when a pattern matches no document.
 */
export async function readDocuments(root: string, patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const files = (await Promise.all(patterns.map((pattern) => matchDocuments(root, pattern)))).flat();
  const names = [...new Set(files)].sort();
  const texts = await Promise.all(names.map((name) => readFile(path.join(root, name), 'utf8')));
  return new Map(names.map((name, index) => [name, texts[index] ?? '']));
}

/** Returns whether a file name matches the last segment of a pattern, the only one that may contain `*`. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = path.posix.basename(pattern).split('*').map(escapeRegExp);
  // A leading dot marks temporary files that editors create while they save a document.
  return !name.startsWith('.') && new RegExp(`^${parts.join('.*')}$`, 'u').test(name);
}

async function matchDocuments(root: string, pattern: string): Promise<string[]> {
  const folder = path.posix.dirname(pattern);
  const names = await readdir(path.join(root, folder)).catch(() => []);
  const found = names.filter((name) => matchesPattern(pattern, name)).map((name) => path.posix.join(folder, name));
  if (found.length > 0) return found;
  throw new ContractError([{ file: pattern, line: 1, column: 1, message: 'No document matches the pattern.' }]);
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
