import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A position in a contract document. Lines and columns start at 1. */
export interface Location {
  /** The document's path from the repository root. */
  file: string;
  line: number;
  column: number;
}

/** An error in a contract document, with its position. */
export interface Diagnostic extends Location {
  message: string;
}

/** Thrown when contract documents have errors; carries all of them. */
export class ContractError extends Error {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`).join('\n'));
    this.name = 'ContractError';
    this.diagnostics = diagnostics;
  }
}

/** Throws the given errors, if there are any, sorted by position and each of them once. @throws ContractError */
export function throwDiagnostics(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) throw new ContractError(sortDiagnostics(diagnostics));
}

/** Returns the diagnostics in the order of their positions, each of them once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const unique = new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]));
  return [...unique.values()].sort(comparePlaces);
}

const comparePlaces = (a: Diagnostic, b: Diagnostic): number =>
  compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.message, b.message);

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/**
 * Returns a function that returns a line of a document and a caret line below it, or nothing if the line does not exist. It
 * reads each document once.
 */
export function createQuote(root: string): (location: Location) => Promise<string[]> {
  const documents = new Map<string, Promise<readonly string[]>>();
  const readLines = async (file: string) => (await findText(path.join(root, file)))?.split(/\r?\n/u) ?? [];
  return async ({ file, line, column }) => {
    const reading = documents.get(file) ?? readLines(file);
    documents.set(file, reading);
    const source = (await reading)[line - 1];
    if (source === undefined) return [];
    // Tabs are copied, so that the caret is aligned for any tab width.
    const indent = source.slice(0, column - 1).replace(/[^\t]/gu, ' ');
    return [`  ${source}`, `  ${indent}^`];
  };
}

/**
 * Reads the documents that match any of the patterns, sorted by path, so that the output does not depend on the
 * machine.
 *
 * @throws ContractError when a pattern matches no document, unless it has a segment `**`.
 */
export async function readDocuments(root: string, patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const files = (await Promise.all(patterns.map((pattern) => matchDocuments(root, pattern)))).flat();
  const names = [...new Set(files)].sort();
  const texts = await Promise.all(names.map((name) => readFile(path.join(root, name), 'utf8')));
  return new Map(names.map((name, index) => [name, texts[index] ?? '']));
}

/** Returns the folder of a pattern, and whether its documents may be in folders below, after a segment `**`. */
export function splitPattern(pattern: string): { readonly folder: string; readonly isDeep: boolean } {
  const folder = path.posix.dirname(pattern);
  return path.posix.basename(folder) === '**'
    ? { folder: path.posix.dirname(folder), isDeep: true }
    : { folder, isDeep: false };
}

/**
 * Returns whether a file name matches the last segment of a pattern, the only one that may contain `*`, and alternatives
 * such as `{graphql,gql}`.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = path.posix
    .basename(pattern)
    .split(/(\*|\{[^{}]*\})/u)
    .map(toRegExp);
  // A leading dot marks temporary files that editors create while they save a document.
  return !name.startsWith('.') && new RegExp(`^${parts.join('')}$`, 'u').test(name);
}

function toRegExp(part: string): string {
  if (part === '*') return '.*';
  return part.startsWith('{') ? `(?:${part.slice(1, -1).split(',').map(escapeRegExp).join('|')})` : escapeRegExp(part);
}

/** Returns whether a path matches a pattern. */
export function matchesPath(pattern: string, file: string): boolean {
  const { folder, isDeep } = splitPattern(pattern);
  const isBelow = isDeep && (folder === '.' || file.startsWith(`${folder}/`));
  return (isBelow || path.posix.dirname(file) === folder) && matchesPattern(pattern, path.posix.basename(file));
}

async function matchDocuments(root: string, pattern: string): Promise<string[]> {
  const { folder, isDeep } = splitPattern(pattern);
  const entries = await readdir(path.join(root, folder), { recursive: isDeep }).catch(() => []);
  const found = entries
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
    .filter((name) => matchesPattern(pattern, path.posix.basename(name)));
  return found.length > 0 || isDeep ? found : throwUnmatched(pattern);
}

/** @throws ContractError */
export function throwUnmatched(pattern: string): never {
  throw new ContractError([{ file: pattern, line: 1, column: 1, message: 'No document matches the pattern.' }]);
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');

/** Returns the end of a message about an unknown name: ` Did you mean "limit"?`, or an empty string. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = closestName(name, known);
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
}

/**
 * Returns the known name with the smallest edit distance, if that is at most two or a third of the length of the name.
 * Ignores case.
 */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  const ranked = [...known]
    .map((candidate) => ({ candidate, edits: countEdits(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  const [best] = ranked;
  return best !== undefined && best.edits <= Math.max(2, name.length / 3) ? best.candidate : undefined;
}

/** Returns the Levenshtein distance: the number of insertions, deletions and replacements. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of Array.from(from).entries()) {
    const next = [line + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Returns the text of a file, or `undefined` if it does not exist. */
export async function findText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Lists every file below a folder as sorted paths with `/`. The list is empty if the folder does not exist. */
export async function listFiles(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => toSlashes(path.relative(folder, path.join(entry.parentPath, entry.name))))
      .sort();
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** Reads every file below a folder: path from that folder → text. */
export async function readFolder(folder: string): Promise<Map<string, string>> {
  const names = await listFiles(folder);
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  return new Map(names.map((name, index) => [name, texts[index] ?? '']));
}

/**
 * Writes files below a folder. Each file is replaced atomically, so that a reader sees either the old or the new text.
 *
 * All texts are written to temporary files before the first one is renamed, so that a full disk changes nothing.
 */
export async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const moves = [...files].map(([name, text]) => {
    const file = path.join(folder, name);
    return { file, temporary: `${file}.${randomUUID()}.tmp`, text };
  });
  try {
    for (const { temporary, text } of moves) {
      await mkdir(path.dirname(temporary), { recursive: true });
      await writeFile(temporary, text);
    }
    for (const { file, temporary } of moves) await rename(temporary, file);
  } catch (error) {
    await Promise.all(moves.map(({ temporary }) => rm(temporary, { force: true })));
    throw error;
  }
}

/** Removes files below a folder, and the folders that become empty. */
export async function removeFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await rm(path.join(folder, name), { force: true });
    await removeEmptyFolders(folder, path.dirname(name));
  }
}

async function removeEmptyFolders(folder: string, name: string): Promise<void> {
  if (name === '.') return;
  if ((await readdir(path.join(folder, name))).length > 0) return;
  await rmdir(path.join(folder, name));
  await removeEmptyFolders(folder, path.dirname(name));
}

/** Returns a digest of named texts, including which name belongs to which text. */
export function digestTexts(texts: Iterable<readonly [name: string, text: string]>): string {
  const hash = createHash('sha256');
  // The lengths make the boundary between name and text unambiguous.
  for (const [name, text] of texts) hash.update(`${name.length} ${text.length} `).update(name).update(text);
  return hash.digest('hex');
}

const toSlashes = (file: string) => file.replaceAll(path.sep, '/');

const isAbsent = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
