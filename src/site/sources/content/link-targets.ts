import { statSync } from 'node:fs';
import path from 'node:path';

import { isExcludedPath } from '../exclusions.js';
import { toFileId } from '../file-record.js';
import { findSource } from '../site-source.js';
import type { SiteSource } from '../site-source.js';

export interface LinkTarget {
  /** The id of the file or folder; `undefined` when there is none. */
  readonly id: string | undefined;
  /** Absolute paths that were looked at: the answer is another when one of them comes or goes. */
  readonly tried: readonly string[];
}

/**
 * Finds the file or folder that a text in a file names: `./x` and `../x` are seen from the file's own folder, `/x` from
 * its source, and `x` from its folder or else from its source. Only what is part of a source is found.
 */
export type FindTarget = (
  from: { readonly source: SiteSource; readonly relativePath: string },
  kind: string,
  text: string,
) => LinkTarget;

export function createFindTarget(sources: readonly SiteSource[]): FindTarget {
  return ({ source, relativePath }, kind, text) => {
    const folder = path.posix.dirname(path.posix.join(source.directory, relativePath));
    const fromSource = path.posix.join(source.directory, text);
    const fromFolder = path.posix.join(folder, text);
    if (text.startsWith('/')) return firstOf([fromSource]);
    return firstOf(/^\.\.?(\/|$)/.test(text) ? [fromFolder] : [fromFolder, fromSource]);

    function firstOf(candidates: readonly string[]): LinkTarget {
      const tried = candidates.map((candidate) => candidate.replace(/(?<=.)\/$/, ''));
      const found = tried.find((candidate) => isThere(candidate, kind, sources));
      return { id: found === undefined ? undefined : toFileId(found), tried };
    }
  };
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
    // It is not there, or no file could have that name.
    return undefined;
  }
}
