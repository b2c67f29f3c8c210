import { realpathSync } from 'node:fs';
import { AppError } from '@trellis/core/errors';
import type { ExposureConfig, SourceConfig } from '../config/site-config.js';
import type { RecordStore } from '../record-store.js';
import type { RecordTables } from '../records/record-schema.js';
import { createExclude, type Exclude } from './exclusions.js';
import type { SourceLocation } from './file-records.js';
import { getPositionRange, MAX_SOURCES } from './positions.js';

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
