import { hash } from 'node:crypto';
import path from 'node:path';

import prettyBytes from 'pretty-bytes';

import type { StatNumbers } from './entries.js';
import { idsOf } from './ids.js';
import { createIsoTimes } from './iso-times.js';
import { toMediaType } from './media-types.js';

export interface Source {
  /** Its name in `sourceInstanceName`. */
  readonly name: string;
  /** Absolute, without a slash at the end; `absolutePath` and the ids are made from it. */
  readonly directory: string;
  /** Absolute: `internal.description` shows paths from here. */
  readonly workingDirectory: string;
}

export type Row = Readonly<Record<string, string | number | null>>;

export interface EntryRecords {
  file(relativePath: string, stats: StatNumbers, digest: string): Row;
  directory(relativePath: string, stats: StatNumbers): Row;
  /** The picture that a file of this row holds; `undefined` if its extension is none of a picture. */
  image(file: Row): Row | undefined;
  /** The id of the picture record of a file. */
  imageId(fileId: string): string;
}

/** Changes whenever a row made from the same file would differ, so that stored rows are made anew. */
export const RECORD_FORMAT = 1;

const FILE_PLUGIN = 'gatsby-source-filesystem';
const IMAGE_PLUGIN = 'gatsby-transformer-sharp';

/** The original's six, and three that it does not know. */
const IMAGE_EXTENSIONS = new Set(['jpeg', 'jpg', 'png', 'webp', 'tif', 'tiff', 'avif', 'gif', 'svg']);

/** The id of the file or folder at an absolute path. */
export const toFileId = idsOf(FILE_PLUGIN);

/** Makes the rows of a source's files, folders and pictures, by column. */
export function createEntryRecords(source: Source): EntryRecords {
  const imageId = idsOf(IMAGE_PLUGIN);
  const toImageId = (parent: string): string => imageId(`${parent} >> ImageProc`);
  const toRow = createEntryRow(source);
  const mediaTypeOf = remember(toMediaType);
  return {
    imageId: toImageId,
    file: (relativePath, stats, digest) => {
      const place = placeOf(source, relativePath);
      return toRow(place, stats, { type: 'File', digest, mediaType: mediaTypeOf(place.ext) });
    },
    directory: (relativePath, stats) => {
      const place = placeOf(source, relativePath);
      return toRow(place, stats, {
        type: 'Directory',
        digest: folderDigest(place.absolutePath, stats),
        mediaType: null,
      });
    },
    image: ({ id, relativePath, 'internal.contentDigest': digest = null }) => {
      if (!isImage(String(relativePath))) return undefined;
      return {
        id: toImageId(String(id)),
        parent: String(id),
        'internal.type': 'ImageProc',
        'internal.owner': IMAGE_PLUGIN,
        'internal.contentDigest': digest,
      };
    },
  };
}

/** Extensions, or sizes, of which a site has few and many files of each; more than this are not worth their room. */
const MAX_REMEMBERED = 20_000;

function remember<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    if (made.size < MAX_REMEMBERED) made.set(key, value);
    return value;
  };
}

/** Whether a file of this name gets a picture record; the content is not looked at. */
export function isImage(relativePath: string): boolean {
  return IMAGE_EXTENSIONS.has(path.posix.extname(relativePath).slice(1).toLowerCase());
}

/** Of all that a touch changes but the time of access, which listing the folder changes by itself. */
function folderDigest(absolutePath: string, stats: StatNumbers): string {
  return hash('md5', JSON.stringify({ stats: { ...stats, atimeMs: undefined }, absolutePath }));
}

interface Place extends path.ParsedPath {
  readonly absolutePath: string;
  readonly relativePath: string;
}

function placeOf({ directory }: Source, relativePath: string): Place {
  const absolutePath = toAbsolute(directory, relativePath);
  const { root, dir, base, ext, name } = path.posix.parse(absolutePath);
  return { root, dir, base, ext, name, absolutePath, relativePath };
}

interface OfKind {
  readonly type: 'File' | 'Directory';
  readonly digest: string;
  readonly mediaType: string | null;
}

function createEntryRow(source: Source): (place: Place, stats: StatNumbers, own: OfKind) => Row {
  const toIso = createIsoTimes();
  const prettySizeOf = remember(toPrettySize);
  const shownPath = createShownPath(source);
  // One literal with a property a column: spreads would double the time that a crawl spends on its rows.
  return ({ absolutePath, relativePath, root, dir, base, ext, name }, stats, { type, digest, mediaType }) => ({
    id: toFileId(absolutePath),
    'internal.type': type,
    'internal.contentDigest': digest,
    'internal.mediaType': mediaType,
    'internal.owner': FILE_PLUGIN,
    'internal.description': `${type} "${shownPath(relativePath)}"`,
    sourceInstanceName: source.name,
    absolutePath,
    relativePath,
    relativeDirectory: relativePath === '' ? '..' : relativePath.slice(0, Math.max(0, relativePath.lastIndexOf('/'))),
    root,
    dir,
    base,
    ext,
    name,
    extension: ext.slice(1).toLowerCase(),
    prettySize: prettySizeOf(stats.size),
    atime: toIso(stats.atimeMs),
    mtime: toIso(stats.mtimeMs),
    ctime: toIso(stats.ctimeMs),
    birthTime: toIso(stats.birthtimeMs),
    dev: stats.dev,
    mode: stats.mode,
    nlink: stats.nlink,
    uid: stats.uid,
    gid: stats.gid,
    rdev: stats.rdev,
    blksize: stats.blksize,
    ino: stats.ino,
    size: stats.size,
    blocks: stats.blocks,
    atimeMs: stats.atimeMs,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    birthtimeMs: stats.birthtimeMs,
  });
}

function toAbsolute(directory: string, relativePath: string): string {
  return relativePath === '' ? directory : `${directory === '/' ? '' : directory}/${relativePath}`;
}

/** As `path.relative` shows a path from the working folder, which is asked once where one answer holds for all. */
function createShownPath({ directory, workingDirectory }: Source): (relativePath: string) => string {
  const toFolder = path.relative(workingDirectory, directory);
  const isAbove = /^\.\.(\/\.\.)*$/.test(toFolder);
  if (isAbove) return (relativePath) => path.relative(workingDirectory, toAbsolute(directory, relativePath));
  return (relativePath) => (toFolder && relativePath ? `${toFolder}/${relativePath}` : toFolder + relativePath);
}

/** Half of all files are this small, and making their text needs no rounding. */
function toPrettySize(size: number): string {
  return size < 1000 ? `${size} B` : prettyBytes(size);
}
