import type { ExposureConfig } from '../config/site-config.js';
import { compileGlob, compilePathGlobs } from '../patterns/compile-glob.js';

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
