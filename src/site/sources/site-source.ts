import type { Exclude } from './exclusions.js';
import type { Source } from './file-record.js';

/** One of the folders that a site is read from. */
export interface SiteSource extends Source {
  /** Its place in the configuration, from 0. */
  readonly place: number;
  /** Where the folder really is, without links on the way. */
  readonly root: string;
  /** Absolute paths without links, in the folder but no part of the source. */
  readonly except: readonly string[];
  /** Why a path below the folder is not part of the source, with everything below it. */
  readonly exclude: Exclude;
}

/** The innermost of the sources that the path lies in: it has what is there. */
export function findSource(absolutePath: string, sources: readonly SiteSource[]): SiteSource | undefined {
  const holding = sources.filter(({ directory }) => isWithin(absolutePath, directory));
  return holding.sort((one, other) => other.directory.length - one.directory.length)[0];
}

/** Whether a path is that of the folder, or leads into it; both absolute, without a slash at the end. */
export function isWithin(absolutePath: string, folder: string): boolean {
  return absolutePath === folder || absolutePath.startsWith(folder === '/' ? folder : `${folder}/`);
}
