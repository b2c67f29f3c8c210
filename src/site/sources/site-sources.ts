import { realpathSync, statSync } from 'node:fs';

import { AppError } from '../../errors.js';
import type { SourceConfig } from '../config/site-config.js';
import { createIgnore } from './exclusions.js';
import { MAX_SOURCES } from './positions.js';
import { isWithin } from './site-source.js';
import type { SiteSource } from './site-source.js';

export interface SiteFolders {
  /** Absolute: `internal.description` shows paths from here. */
  readonly workingDirectory: string;
  /** Absolute paths without links that are no part of the site, wherever they lie. */
  readonly except: readonly string[];
}

/**
 * The folders that a site is read from. A source inside another one has its files to itself: a file is one record,
 * and the innermost source says of which.
 *
 * @throws AppError `invalid_input` for a folder that is not there, two sources of one folder, or too many.
 */
export function createSources(named: readonly SourceConfig[], folders: SiteFolders): SiteSource[] {
  if (named.length > MAX_SOURCES) {
    throw new AppError('invalid_input', `Expected at most ${MAX_SOURCES} sources; received ${named.length}.`);
  }
  const roots = named.map(realFolder);
  return named.map(({ name, path: directory, ignore }, place) => {
    const root = roots[place] ?? directory;
    const others = roots.filter((_, other) => other !== place);
    refuseTwin(named, roots, place);
    return {
      name,
      directory,
      workingDirectory: folders.workingDirectory,
      place,
      root,
      except: [...folders.except, ...others.filter((other) => isWithin(other, root))],
      ignore: createIgnore(ignore),
    };
  });
}

/** Where a source's folder really is. */
function realFolder({ name, path }: SourceConfig): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path);
  throw new AppError('invalid_input', `Expected the folder of the source "${name}"; ${path} is none.`);
}

function refuseTwin(named: readonly SourceConfig[], roots: readonly string[], place: number): void {
  const twin = roots.indexOf(roots[place] ?? '');
  if (twin === place) return;
  const names = `"${named[twin]?.name ?? ''}" and "${named[place]?.name ?? ''}"`;
  throw new AppError('invalid_input', `Expected a folder of its own for each source; ${names} share one.`);
}
