import picomatch from 'picomatch';

const LEFT_OUT: ReadonlySet<string> = new Set([
  '.DS_Store',
  '.babelrc',
  '.gitignore',
  '.npmignore',
  'bower_components',
  'node_modules',
  'yarn.lock',
]);

/**
 * Whether a file or folder of this name, with all that it holds, is no part of
 * a site. Other names that start with a dot are part of it, as are `dist`,
 * `package-lock.json` and empty folders.
 */
export function isLeftOut(base: string): boolean {
  return LEFT_OUT.has(base) || base.endsWith('.un~');
}

/**
 * Whether a source's configuration leaves a path below it out, with all that
 * is below that. Names that start with a dot are matched as others are.
 */
export function createIgnore(globs: readonly string[]): (path: string) => boolean {
  return globs.length === 0 ? () => false : picomatch([...globs], { dot: true });
}
