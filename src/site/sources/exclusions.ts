import type { ExposureConfig } from '../config/site-config.js';
import { compileGlob, compilePathGlobs } from '../glob/compile-glob.js';

const LEFT_OUT: ReadonlySet<string> = new Set([
  '.DS_Store',
  '.babelrc',
  '.gitignore',
  '.npmignore',
  'bower_components',
  'node_modules',
  'yarn.lock',
]);

/** Whether a file or folder of this name, with everything below it, is never part of a site. */
export function isLeftOut(base: string): boolean {
  return LEFT_OUT.has(base) || base.endsWith('.un~');
}

/** Why an entry is not part of a source; `private` is the default that `dotfiles` and `allow` change. */
export type Exclusion = 'always' | 'configured' | 'private';

/**
 * Returns why a path below a source is excluded, or `undefined` for one that is part of it. Only the last step decides
 * about `always` and `configured`, so callers that do not walk down to the path check each step: {@link isExcludedPath}.
 *
 * @param isFolder Whether the path is a folder, which also stays when `allow` names something inside it.
 */
export type Exclude = (path: string, isFolder: boolean) => Exclusion | undefined;

/** File extensions of private keys, key stores, certificates and password databases. */
const KEY_EXTENSIONS = 'pem|key|crt|cer|der|p8|p12|pfx|jks|keystore|kdb|kdbx|ppk';

/** The names that ssh-keygen gives to identities, with any suffix: `id_rsa`, `id_ed25519_sk.bak`; not `id_card.png`. */
const SSH_IDENTITY = 'id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[._-][^/]*)?';

/** Configuration that the server itself reads, and that may hold passwords and tokens. */
const CONFIGURATION = '(?:trellis|site)\\.config\\.[^/]*|gatsby-config\\.[^/]*';

const NAMES = `[^/]*\\.(?:${KEY_EXTENSIONS})|${SSH_IDENTITY}|${CONFIGURATION}`;

/** Any step of a path that is private. Names are compared without regard to case, as some file systems do. */
const PRIVATE = {
  exclude: new RegExp(`(?:^|/)(?:\\.|(?:${NAMES})(?:/|$))`, 'i'),
  include: new RegExp(`(?:^|/)(?:${NAMES})(?:/|$)`, 'i'),
} as const;

/**
 * Combines the rules of a source: names that are never part of a site, private names unless `allow` matches the path,
 * and the globs of its `ignore`, which match names that start with a dot like others.
 *
 * @throws AppError `invalid_input` for a glob in `allow` or `ignore` that is not valid.
 */
export function createExclude({ dotfiles, allow }: ExposureConfig, ignore: readonly string[] = []): Exclude {
  const isPrivate = PRIVATE[dotfiles];
  const allowed = allow.map((glob) => compileGlob(glob));
  const folders = allow.flatMap(foldersOf).map((glob) => compileGlob(glob));
  const isIgnored = compilePathGlobs(ignore, { dot: true });
  const isAllowed = (path: string, isFolder: boolean): boolean =>
    allowed.some((matches) => matches(path)) || (isFolder && folders.some((matches) => matches(path)));
  return (path, isFolder) => {
    if (isLeftOut(path.slice(path.lastIndexOf('/') + 1))) return 'always';
    if (isIgnored(path)) return 'configured';
    return isPrivate.test(path) && !isAllowed(path, isFolder) ? 'private' : undefined;
  };
}

/** What excludes entries where no configuration says otherwise. */
export const DEFAULT_EXPOSURE: ExposureConfig = { dotfiles: 'exclude', allow: [] };

/** Whether a path or a folder on the way to it is excluded. */
export function isExcludedPath(path: string, exclude: Exclude, isFolder: boolean): boolean {
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    if (exclude(path.slice(0, end), true) !== undefined) return true;
  }
  return exclude(path, isFolder) !== undefined;
}

/** The parent folders of the matches of a glob, up to its first `**`: `.github` for `.github/*.yml`. */
function foldersOf(glob: string): string[] {
  const steps = glob.split('/');
  const globstar = steps.findIndex((step) => step.includes('**'));
  // A slash inside braces or parentheses splits no folders.
  const grouped = steps.findIndex((step) => /[{(]/.test(step));
  const ends = [globstar, grouped, steps.length - 1].filter((end) => end >= 0);
  return Array.from({ length: Math.min(...ends) }, (_, index) => steps.slice(0, index + 1).join('/'));
}
