import { hash } from 'node:crypto';
import path from 'node:path';

import prettyBytes from 'pretty-bytes';

import type { SqlValue } from '../records/sql.js';
import { STAT_FIELDS } from './entries.js';
import type { StatNumbers } from './entries.js';
import { createIdGenerator } from './ids.js';
import { createIsoTimes } from '../records/iso-times.js';
import { toMediaType } from './media-types.js';

export interface SourceLocation {
  /** The value of `sourceInstanceName`. */
  readonly name: string;
  /** The absolute path without a trailing slash, from which `absolutePath` and the ids are derived. */
  readonly directory: string;
  /** The absolute path of the folder to which paths in `internal.description` are relative. */
  readonly workingDirectory: string;
}

export type RecordRow = Readonly<Record<string, string | number | null>>;

/** Creates the values of rows in the order of {@link ENTRY_ROW}, without the stat numbers at the end. */
export interface EntryRecords {
  file(relativePath: string, stats: StatNumbers, digest: string): SqlValue[];
  directory(relativePath: string, stats: StatNumbers): SqlValue[];
  /** Returns the values of an image record in the order of {@link IMAGE_ROW}. */
  image(fileId: string, digest: string): SqlValue[];
  /** Returns the id of the image record of a file. */
  imageId(fileId: string): string;
}

/** The stored columns of a file or folder; the virtual ones are {@link ENTRY_COLUMNS}. */
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

/** Increment it when the same file produces a different row, so that stored rows are rebuilt. */
export const RECORD_FORMAT = 4;

export const FILE_PLUGIN = 'gatsby-source-filesystem';
export const IMAGE_PLUGIN = 'gatsby-transformer-sharp';

/** Gatsby's six image extensions and three more. A name whose only dot is the first character has no extension. */
const IMAGE_NAME = /[^/]\.(?:jpe?g|png|webp|tiff?|avif|gif|svg)$/i;

/** Returns the id of the file or folder at an absolute path. */
export const toFileId = createIdGenerator(FILE_PLUGIN);

export function createEntryRecords(source: SourceLocation): EntryRecords {
  const ofImage = createIdGenerator(IMAGE_PLUGIN);
  const imageId = (fileId: string): string => ofImage(`${fileId} >> ImageProc`);
  const toRow = createEntryRow(source);
  const mediaTypeOf = memoize(toMediaType);
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

/** The cache size for extensions and sizes, which repeat often; a site with more distinct ones gains little. */
const MAX_CACHED = 20_000;

function memoize<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    if (made.size < MAX_CACHED) made.set(key, value);
    return value;
  };
}

/** Whether a file with this name gets an image record. The content is not checked. */
export function isImage(relativePath: string): boolean {
  return IMAGE_NAME.test(relativePath);
}

/** Digests all stat numbers except the time of access, which listing the folder changes. */
function folderDigest(absolutePath: string, stats: StatNumbers): string {
  return hash('md5', JSON.stringify({ stats: { ...stats, atimeMs: undefined }, absolutePath }));
}

interface Place extends Pick<path.ParsedPath, 'ext' | 'name'> {
  readonly absolutePath: string;
  readonly relativePath: string;
}

function placeOf({ directory }: SourceLocation, relativePath: string): Place {
  const absolutePath = toAbsolute(directory, relativePath);
  const { ext, name } = path.posix.parse(absolutePath);
  return { ext, name, absolutePath, relativePath };
}

interface OfKind {
  readonly type: 'File' | 'Directory';
  readonly digest: string;
  readonly mediaType: string | null;
}

function createEntryRow(source: SourceLocation): (place: Place, stats: StatNumbers, own: OfKind) => SqlValue[] {
  const shownPath = createShownPath(source);
  const prettySizeOf = memoize(toPrettySize);
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

/** Returns a fast `path.relative` from the working folder, which is called only once unless the source is above it. */
function createShownPath({ directory, workingDirectory }: SourceLocation): (relativePath: string) => string {
  const toFolder = path.relative(workingDirectory, directory);
  const isAbove = /^\.\.(\/\.\.)*$/.test(toFolder);
  if (isAbove) return (relativePath) => path.relative(workingDirectory, toAbsolute(directory, relativePath));
  return (relativePath) => (toFolder && relativePath ? `${toFolder}/${relativePath}` : toFolder + relativePath);
}

/** Half of all files are this small, and their size needs no rounding. */
function toPrettySize(size: number): string {
  return size < 1000 ? `${size} B` : prettyBytes(size);
}
