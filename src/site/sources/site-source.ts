import type { Exclude } from './exclusions.js';
import type { SourceLocation } from './file-record.js';

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

/** Returns the innermost source that contains the path, to which its file belongs. */
export function findSource(absolutePath: string, sources: readonly SiteSource[]): SiteSource | undefined {
  const holding = sources.filter(({ directory }) => isWithin(absolutePath, directory));
  return holding.sort((one, other) => other.directory.length - one.directory.length)[0];
}

/** Whether a path is that of the folder or inside it. Both are absolute, without a trailing slash. */
export function isWithin(absolutePath: string, folder: string): boolean {
  return absolutePath === folder || absolutePath.startsWith(folder === '/' ? folder : `${folder}/`);
}
