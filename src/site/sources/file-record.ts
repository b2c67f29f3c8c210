import { hash } from 'node:crypto';
import path from 'node:path';

import prettyBytes from 'pretty-bytes';

import type { SqlValue } from '../sql.js';
import { STAT_FIELDS } from './entries.js';
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

/** Makes the values of rows, in the order of {@link ENTRY_ROW}; those of its numbers are still to be added. */
export interface EntryRecords {
  file(relativePath: string, stats: StatNumbers, digest: string): SqlValue[];
  directory(relativePath: string, stats: StatNumbers): SqlValue[];
  /** Of the picture that a file holds, in the order of {@link IMAGE_ROW}. */
  image(fileId: string, digest: string): SqlValue[];
  /** The id of the picture record of a file. */
  imageId(fileId: string): string;
}

/** The columns of a file's or a folder's row; the others are {@link ENTRY_COLUMNS}. */
export const ENTRY_ROW = [
  'id',
  'internal.contentDigest',
  'internal.mediaType',
  'internal.description',
  'sourceInstanceName',
  'absolutePath',
  'relativePath',
  'ext',
  'name',
  'prettySize',
  'mtime',
  ...STAT_FIELDS,
] as const;

export const IMAGE_ROW = ['id', 'parent', 'internal.contentDigest'] as const;

/** Changes whenever a row made from the same file would differ, so that stored rows are made anew. */
export const RECORD_FORMAT = 4;

export const FILE_PLUGIN = 'gatsby-source-filesystem';
export const IMAGE_PLUGIN = 'gatsby-transformer-sharp';

/** The original's six, and three that it does not know; a name that starts with its last dot has no extension. */
const IMAGE_NAME = /[^/]\.(?:jpe?g|png|webp|tiff?|avif|gif|svg)$/i;

/** The id of the file or folder at an absolute path. */
export const toFileId = idsOf(FILE_PLUGIN);

export function createEntryRecords(source: Source): EntryRecords {
  const ofImage = idsOf(IMAGE_PLUGIN);
  const imageId = (fileId: string): string => ofImage(`${fileId} >> ImageProc`);
  const toRow = createEntryRow(source);
  const mediaTypeOf = remember(toMediaType);
  return {
    imageId,
    file: (relativePath, stats, digest) => {
      const place = placeOf(source, relativePath);
      return toRow(place, stats, { type: 'File', digest, mediaType: mediaTypeOf(place.ext) });
    },
    directory: (relativePath, stats) => {
      const place = placeOf(source, relativePath);
      const digest = folderDigest(place.absolutePath, stats);
      return toRow(place, stats, { type: 'Directory', digest, mediaType: null });
    },
    image: (fileId, digest) => [imageId(fileId), fileId, digest],
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
  return IMAGE_NAME.test(relativePath);
}

/** Of all that a touch changes but the time of access, which listing the folder changes by itself. */
function folderDigest(absolutePath: string, stats: StatNumbers): string {
  return hash('md5', JSON.stringify({ stats: { ...stats, atimeMs: undefined }, absolutePath }));
}

interface Place extends Pick<path.ParsedPath, 'ext' | 'name'> {
  readonly absolutePath: string;
  readonly relativePath: string;
}

function placeOf({ directory }: Source, relativePath: string): Place {
  const absolutePath = toAbsolute(directory, relativePath);
  const { ext, name } = path.posix.parse(absolutePath);
  return { ext, name, absolutePath, relativePath };
}

interface OfKind {
  readonly type: 'File' | 'Directory';
  readonly digest: string;
  readonly mediaType: string | null;
}

function createEntryRow(source: Source): (place: Place, stats: StatNumbers, own: OfKind) => SqlValue[] {
  const shownPath = createShownPath(source);
  const prettySizeOf = remember(toPrettySize);
  const toIso = createIsoTimes();
  return ({ absolutePath, relativePath, ext, name }, { size, mtimeMs }, { type, digest, mediaType }) => [
    toFileId(absolutePath),
    digest,
    mediaType,
    `${type} "${shownPath(relativePath)}"`,
    source.name,
    absolutePath,
    relativePath,
    ext,
    name,
    prettySizeOf(size),
    toIso(mtimeMs),
  ];
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
