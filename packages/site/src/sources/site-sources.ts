import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '@trellis/core/errors';
import type { RecordField, RelationField } from '@trellis/core/record-types';
import type { ExposureConfig, PathAlias, SourceConfig } from '../config/site-config.js';
import { compileGlob, compilePathGlobs } from '../patterns/patterns.js';
import type { RecordStore } from '../record-store.js';
import type { RecordTables } from '../records/record-schema.js';
import { type SourceLocation, toFileId } from './file-records.js';

/** A configured folder of a site. */
export interface SiteSource extends SourceLocation {
  /** Its index in the configuration. */
  readonly place: number;
  /** The real path of the folder, with links resolved. */
  readonly root: string;
  /** Real absolute paths inside the folder that do not belong to the source. */
  readonly except: readonly string[];
  /** Returns why a path below the folder, with everything below it, does not belong to the source. */
  readonly exclude: Exclude;
}

interface SiteFolders {
  /** The absolute path of the folder to which paths in `internal.description` are relative. */
  readonly workingDirectory: string;
  /** Real absolute paths that do not belong to the site. */
  readonly except: readonly string[];
  readonly exposure: ExposureConfig;
}

/**
 * Creates the sources of a site. A file belongs to the innermost source that contains it, and to no other.
 *
 * @throws AppError `invalid_input` for two sources with the same folder or too many sources.
 */
export function createSources(named: readonly SourceConfig[], folders: SiteFolders): SiteSource[] {
  if (named.length > MAX_SOURCES) {
    throw new AppError('invalid_input', `Expected at most ${MAX_SOURCES} sources; received ${named.length}.`);
  }
  const roots = named.map(realFolder);
  return named.map(({ name, path: directory, ignore }, place) => {
    const root = roots[place] ?? directory;
    const others = roots.filter((_, other) => other !== place);
    assertUniqueFolder(named, roots, place);
    return {
      name,
      directory,
      workingDirectory: folders.workingDirectory,
      place,
      root,
      except: [...folders.except, ...others.filter((other) => isWithin(other, root))],
      exclude: createExclude(folders.exposure, ignore),
    };
  });
}

/** Returns the real path of a source's folder, or its configured path if it is missing, which the scan reports. */
function realFolder({ path }: SourceConfig): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function assertUniqueFolder(named: readonly SourceConfig[], roots: readonly string[], place: number): void {
  const first = roots.indexOf(roots[place] ?? '');
  if (first === place) return;
  const names = `"${named[first]?.name ?? ''}" and "${named[place]?.name ?? ''}"`;
  throw new AppError('invalid_input', `The sources ${names} have the same folder. Remove one of them.`);
}

/** Returns the innermost source that contains the path, to which its file belongs. */
export function findSource(absolutePath: string, sources: readonly SiteSource[]): SiteSource | undefined {
  const holding = sources.filter(({ directory }) => isWithin(absolutePath, directory));
  return holding.sort((one, other) => other.directory.length - one.directory.length)[0];
}

/** Whether a path is that of the folder or inside it. Both are absolute, without a trailing slash. */
function isWithin(absolutePath: string, folder: string): boolean {
  return absolutePath === folder || absolutePath.startsWith(folder === '/' ? folder : `${folder}/`);
}

const KINDS = ['Directory', 'File', 'ImageProc'] as const;

/** Deletes the files, folders and images of sources that are no longer configured, whose index is `count` or more. */
export function deleteObsoleteSources(store: RecordStore, count: number): void {
  forget(store, KINDS, { from: getPositionRange(count).from, to: Number.MAX_SAFE_INTEGER });
}

/** Deletes all records of a source that can't be read, because they may come from a previously configured folder. */
export function deleteSourceRecords(store: RecordStore, { place }: SiteSource, tables: RecordTables): void {
  const kinds = Object.values(tables).flatMap(({ kind, source }) => (source ? [kind] : []));
  forget(store, [...KINDS, ...kinds], getPositionRange(place));
}

function forget(store: RecordStore, kinds: readonly string[], within: { from: number; to: number }): void {
  const gone = kinds.map((kind) => [kind, [...store.rows(kind, ['id'], within)].map(({ id }) => String(id))] as const);
  if (gone.every(([, ids]) => ids.length === 0)) return;
  store.write((rows) => {
    for (const [kind, ids] of gone) for (const id of ids) rows.remove(kind, id);
  });
}

const LEFT_OUT: ReadonlySet<string> = new Set([
  '.DS_Store',
  '.babelrc',
  '.gitignore',
  '.npmignore',
  'bower_components',
  'node_modules',
  'yarn.lock',
]);

/** Whether a file or folder with this name, including everything below it, is never part of a site. */
export function isIgnored(base: string): boolean {
  return LEFT_OUT.has(base) || base.endsWith('.un~');
}

/** The reason why an entry is not part of a source. `dotfiles` and `allow` change which names are `private`. */
export type Exclusion = 'always' | 'configured' | 'private';

/**
 * Returns why a path below a source is excluded, or `undefined` for one that belongs to it. Only the last segment is
 * checked for `always` and `configured`, so callers that do not walk down to the path must check each segment with
 * {@link isExcludedPath}.
 *
 * @param isFolder Whether the path is a folder, which also belongs to the source if `allow` matches something inside
 * it.
 */
export type Exclude = (path: string, isFolder: boolean) => Exclusion | undefined;

/** The file extensions of private keys, key stores, certificates and password databases. */
const KEY_EXTENSIONS = 'pem|key|crt|cer|der|p8|p12|pfx|jks|keystore|kdb|kdbx|ppk';

/** The names that ssh-keygen gives to identities, with any suffix: `id_rsa`, `id_ed25519_sk.bak`; not `id_card.png`. */
const SSH_IDENTITY = 'id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[._-][^/]*)?';

/** Configuration files of the server and the site, which may contain passwords and tokens. */
const CONFIGURATION = '(?:trellis|site)\\.config\\.[^/]*|gatsby-config\\.[^/]*';

const NAMES = `[^/]*\\.(?:${KEY_EXTENSIONS})|${SSH_IDENTITY}|${CONFIGURATION}`;

/** Matches a path with a private segment. Case is ignored, as in some file systems. */
const PRIVATE = {
  exclude: new RegExp(`(?:^|/)(?:\\.|(?:${NAMES})(?:/|$))`, 'i'),
  include: new RegExp(`(?:^|/)(?:${NAMES})(?:/|$)`, 'i'),
} as const;

/**
 * Combines the rules of a source: names that are never part of a site, private names unless `allow` matches the path,
 * and the globs of `ignore`, whose wildcards also match a leading dot.
 *
 * @throws AppError `invalid_input` for an invalid glob in `allow` or `ignore`.
 */
export function createExclude({ dotfiles, allow }: ExposureConfig, ignore: readonly string[] = []): Exclude {
  const isPrivate = PRIVATE[dotfiles];
  const allowed = allow.map((glob) => compileGlob(glob));
  const folders = allow.flatMap(foldersOf).map((glob) => compileGlob(glob));
  const matchesIgnore = compilePathGlobs(ignore, { dot: true });
  const isAllowed = (path: string, isFolder: boolean): boolean =>
    allowed.some((matches) => matches(path)) || (isFolder && folders.some((matches) => matches(path)));
  return (path, isFolder) => {
    if (isIgnored(path.slice(path.lastIndexOf('/') + 1))) return 'always';
    if (matchesIgnore(path)) return 'configured';
    return isPrivate.test(path) && !isAllowed(path, isFolder) ? 'private' : undefined;
  };
}

/** The defaults for a site without configuration. */
export const DEFAULT_EXPOSURE: ExposureConfig = { dotfiles: 'exclude', allow: [] };

/** Whether a path or one of its parent folders is excluded. */
export function isExcludedPath(path: string, exclude: Exclude, isFolder: boolean): boolean {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    if (exclude(path.slice(0, end), true) !== undefined) return true;
  }
  return exclude(path, isFolder) !== undefined;
}

/**
 * Returns globs for the parent folders of the matches of a glob, up to its first `**`: `.github` for `.github/*.yml`.
 */
function foldersOf(glob: string): string[] {
  const steps = glob.split('/');
  const globstar = steps.findIndex((step) => step.includes('**'));
  // A slash inside braces or parentheses does not separate folders of the glob.
  const grouped = steps.findIndex((step) => /[{(]/.test(step));
  const ends = [globstar, grouped, steps.length - 1].filter((end) => end >= 0);
  return Array.from({ length: Math.min(...ends) }, (_, index) => steps.slice(0, index + 1).join('/'));
}

/**
 * The distance between the positions of entries after a first scan. Positions define the creation order of records, and
 * the gaps let a new file be inserted between its neighbours without moving them.
 *
 * A gap of 2^24 allows 24 insertions at the same place one by one, or 16 million at once, before the source has to be
 * renumbered. 2^20 entries at this distance end at 2^44, and 2^53, up to which numbers are exact, leaves space for 512
 * sources of this size.
 */
export const POSITION_GAP = 2 ** 24;

/** The maximum number of files and folders per source, given {@link POSITION_GAP}. Each takes about 400 bytes during a scan. */
export const MAX_ENTRIES = 2 ** 20 - 1;

/** The exclusive upper bound of positions within a source. */
export const POSITIONS_PER_SOURCE = 2 ** 44;

/** The maximum number of sources, given {@link POSITION_GAP}. */
const MAX_SOURCES = 512;

/** Returns the range of positions of a source, given its index in the configuration. */
export function getPositionRange(place: number): { readonly from: number; readonly to: number } {
  return { from: place * POSITIONS_PER_SOURCE, to: (place + 1) * POSITIONS_PER_SOURCE };
}

/**
 * Assigns positions to entries, given in order with their known positions or `undefined`. Known positions stay, and new
 * ones are spread between them. Returns `undefined` if there are too few free positions or the known ones are out of
 * order; then all entries have to be renumbered with {@link nextPosition}.
 */
export function assignPositions(known: readonly (number | undefined)[]): number[] | undefined {
  const positions: number[] = [];
  for (let index = 0; index < known.length; index += 1) {
    const start = index;
    while (index < known.length && known[index] === undefined) index += 1;
    const count = index - start;
    const before = positions.at(-1) ?? 0;
    // After the last known position, new entries keep the usual distance.
    const after = known[index] ?? before + (count + 1) * POSITION_GAP;
    const step = Math.floor((after - before) / (count + 1));
    if (step < 1 || after > POSITIONS_PER_SOURCE) return undefined;
    for (let place = 1; place <= count; place += 1) positions.push(before + place * step);
    if (index < known.length) positions.push(after);
  }
  return positions;
}

export function nextPosition(index: number): number {
  return (index + 1) * POSITION_GAP;
}

interface LinkTarget {
  /** The id of the file or folder, or `undefined` if it does not exist. */
  readonly id: string | undefined;
  /** The absolute paths that were tried. The result may change when one of them is created or deleted. */
  readonly tried: readonly string[];
}

/**
 * Finds the file or folder that a link in a file refers to: `./x` and `../x` are relative to the file's own folder,
 * `/x` to its source, and `x` to its folder or else to its source. Only entries that belong to a source are found.
 */
export type FindTarget = (
  from: { readonly source: SiteSource; readonly relativePath: string },
  kind: string,
  text: string,
) => LinkTarget;

export function createFindTarget(sources: readonly SiteSource[], aliases: readonly PathAlias[] = []): FindTarget {
  return ({ source, relativePath }, kind, text) => {
    const folder = path.posix.dirname(path.posix.join(source.directory, relativePath));
    const tried = listNormalForms(text)
      .flatMap(candidatesOf)
      .map((candidate) => candidate.replace(/(?<=.)\/$/, ''));
    const found = tried.find((candidate) => isThere(candidate, kind, sources));
    return { id: found === undefined ? undefined : toFileId(found), tried };

    function candidatesOf(form: string): readonly string[] {
      const aliased = findAliased(form, aliases);
      if (aliased !== undefined) return [aliased];
      const [fromFolder, fromSource] = [path.posix.join(folder, form), path.posix.join(source.directory, form)];
      if (form.startsWith('/')) return [fromSource];
      return /^\.\.?(\/|$)/.test(form) ? [fromFolder] : [fromFolder, fromSource];
    }
  };
}

/** Returns the path of a link as it is written, and in the forms that names of files have. macOS may decompose accents (NFD). */
export const listNormalForms = (text: string): readonly string[] => [
  ...new Set([text, text.normalize('NFC'), text.normalize('NFD')]),
];

/** Returns the absolute path of a path that begins with an alias. */
export function findAliased(text: string, aliases: readonly PathAlias[]): string | undefined {
  const alias = aliases.find(({ prefix }) => text === prefix || text.startsWith(`${prefix}/`));
  return alias && path.posix.join(alias.folder, text.slice(alias.prefix.length));
}

function isThere(absolutePath: string, kind: string, sources: readonly SiteSource[]): boolean {
  const source = findSource(absolutePath, sources);
  if (source === undefined) return false;
  const relativePath = path.posix.relative(source.directory, absolutePath);
  if (isExcludedPath(relativePath, source.exclude, kind === 'Directory')) return false;
  const stats = statOf(path.posix.join(source.root, relativePath));
  return (kind === 'Directory' ? stats?.isDirectory() : stats?.isFile()) ?? false;
}

function statOf(file: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(file);
  } catch {
    // The path does not exist, or no file can have such a name.
    return undefined;
  }
}

/** Whether the values of a link are paths of files or folders. */
export function isPathLink(field: RecordField): field is RelationField {
  if (field.kind !== 'relation' || field.relation.by !== 'link') return false;
  return (field.type === 'File' || field.type === 'Directory') && field.relation.to === 'id';
}
