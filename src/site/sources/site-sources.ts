import { realpathSync } from 'node:fs';

import { AppError } from '../../core/errors.js';
import type { ExposureConfig, SourceConfig } from '../config/site-config.js';
import { createExclude } from './exclusions.js';
import { MAX_SOURCES } from './positions.js';
import { isWithin } from './site-source.js';
import type { SiteSource } from './site-source.js';

export interface SiteFolders {
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
