import { realpathSync } from 'node:fs';

import { AppError } from '../../errors.js';
import type { ExposureConfig, SourceConfig } from '../config/site-config.js';
import { createExclude } from './exclusions.js';
import { MAX_SOURCES } from './positions.js';
import { isWithin } from './site-source.js';
import type { SiteSource } from './site-source.js';

export interface SiteFolders {
  /** Absolute: `internal.description` shows paths from here. */
  readonly workingDirectory: string;
  /** Absolute paths without links that are no part of the site, wherever they lie. */
  readonly except: readonly string[];
  readonly exposure: ExposureConfig;
}

/**
 * The folders that a site is read from. A source inside another one has its files to itself: a file is one record,
 * and the innermost source says of which.
 *
 * @throws AppError `invalid_input` for two sources of one folder, or too many.
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
      exclude: createExclude(folders.exposure, ignore),
    };
  });
}

/** Where a source's folder really is; its own path for one that can't be found, as the crawl reports. */
function realFolder({ path }: SourceConfig): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function refuseTwin(named: readonly SourceConfig[], roots: readonly string[], place: number): void {
  const twin = roots.indexOf(roots[place] ?? '');
  if (twin === place) return;
  const names = `"${named[twin]?.name ?? ''}" and "${named[place]?.name ?? ''}"`;
  throw new AppError('invalid_input', `Expected a folder of its own for each source; ${names} share one.`);
}
