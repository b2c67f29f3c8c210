import { statSync } from 'node:fs';
import path from 'node:path';
import type { RecordField, RelationField } from '@trellis/core/record-types';
import { isExcludedPath } from '../exclusions.js';
import { toFileId } from '../file-records.js';
import { findSource, type SiteSource } from '../site-sources.js';

export interface LinkTarget {
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
    // The path does not exist, or no file can have such a name.
    return undefined;
  }
}

/** Whether the values of a link are paths of files or folders. */
export function isPathLink(field: RecordField): field is RelationField {
  if (field.kind !== 'relation' || field.relation.by !== 'link') return false;
  return (field.type === 'File' || field.type === 'Directory') && field.relation.to === 'id';
}
