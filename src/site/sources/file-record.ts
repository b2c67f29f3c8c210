import { hash } from 'node:crypto';
import path from 'node:path';

import prettyBytes from 'pretty-bytes';

import type { StatNumbers } from './entries.js';
import { idsOf } from './ids.js';
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
  /** The picture that a file of this path holds; `undefined` if its extension is none of a picture. */
  image(relativePath: string, digest: string): Row | undefined;
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
  return {
    imageId: toImageId,
    file: (relativePath, stats, digest) => {
      const place = placeOf(source, relativePath);
      const own = { id: toFileId(place.absolutePath), type: 'File', digest, mediaType: toMediaType(place.ext) };
      return entryRow(source, place, stats, own);
    },
    directory: (relativePath, stats) => {
      const place = placeOf(source, relativePath);
      const digest = folderDigest(place.absolutePath, stats);
      return entryRow(source, place, stats, {
        id: toFileId(place.absolutePath),
        type: 'Directory',
        digest,
        mediaType: null,
      });
    },
    image: (relativePath, digest) => {
      if (!isImage(relativePath)) return undefined;
      const parent = toFileId(toAbsolute(source.directory, relativePath));
      return {
        id: toImageId(parent),
        parent,
        'internal.type': 'ImageProc',
        'internal.owner': IMAGE_PLUGIN,
        'internal.contentDigest': digest,
      };
    },
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

/** One literal with a property a column: spreads would double the time that a crawl spends on its rows. */
function entryRow(
  { name: sourceInstanceName, workingDirectory }: Source,
  { absolutePath, relativePath, root, dir, base, ext, name }: Place,
  stats: StatNumbers,
  own: { id: string; type: string; digest: string; mediaType: string | null },
): Row {
  return {
    id: own.id,
    'internal.type': own.type,
    'internal.contentDigest': own.digest,
    'internal.mediaType': own.mediaType,
    'internal.owner': FILE_PLUGIN,
    'internal.description': `${own.type} "${path.relative(workingDirectory, absolutePath)}"`,
    sourceInstanceName,
    absolutePath,
    relativePath,
    relativeDirectory: relativePath === '' ? '..' : relativePath.slice(0, Math.max(0, relativePath.lastIndexOf('/'))),
    root,
    dir,
    base,
    ext,
    name,
    extension: ext.slice(1).toLowerCase(),
    prettySize: prettyBytes(stats.size),
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
  };
}

function toAbsolute(directory: string, relativePath: string): string {
  return relativePath === '' ? directory : `${directory === '/' ? '' : directory}/${relativePath}`;
}

/** The last instant that a Date holds; some file systems keep later ones. */
const MAX_MS = 8.64e15;

/** Rounded to milliseconds as in Node's own `Stats`. */
function toIso(ms: number): string {
  return new Date(Math.max(-MAX_MS, Math.min(MAX_MS, Math.round(ms)))).toISOString();
}
