import { hash } from 'node:crypto';
import path from 'node:path';
import mime from 'mime';
import prettyBytes from 'pretty-bytes';
import { createIsoTimes } from '../query/sql-functions.js';
import type { DerivedColumns } from '../records/record-schema.js';
import type { SqlValue } from '../records/sql.js';
import { STAT_FIELDS, type StatNumbers } from './entries.js';

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
interface EntryRecords {
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

const FILE_PLUGIN = 'gatsby-source-filesystem';
const IMAGE_PLUGIN = 'gatsby-transformer-sharp';

/** Gatsby's six image extensions and three more. A name whose only dot is the first character has no extension. */
const IMAGE_NAME = /[^/]\.(?:jpe?g|png|webp|tiff?|avif|gif|svg)$/i;

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

/** The extension without its dot. */
const EXTENSION = 'substr(ext, 2)';

/** The range of four-digit years in milliseconds since 1970. It ends a day early, so that rounding stays within it. */
const FOUR_DIGITS = { from: Date.parse('0000-01-01T00:00Z'), to: Date.parse('9999-12-31T00:00Z') };

const text = (value: string): string => `'${value}'`;

/**
 * Virtual columns of files, folders and images, which SQL computes from the stored ones on demand, so that a scan does
 * not have to write them. They are cheap to compute or rarely queried.
 */
export const ENTRY_COLUMNS: DerivedColumns = {
  File: entryColumns('File'),
  Directory: entryColumns('Directory'),
  ImageProc: { 'internal.type': text('ImageProc'), 'internal.owner': text(IMAGE_PLUGIN) },
};

function entryColumns(kind: 'File' | 'Directory'): Readonly<Record<string, string>> {
  return {
    'internal.type': text(kind),
    'internal.owner': text(FILE_PLUGIN),
    root: text('/'),
    base: 'name || ext',
    extension: `CASE WHEN length(ext) = octet_length(ext) THEN lower(${EXTENSION}) ELSE lower_case(${EXTENSION}) END`,
    dir: `coalesce(nullif(${without('absolutePath')}, ''), '/')`,
    relativeDirectory: `CASE relativePath WHEN '' THEN '..' ELSE ${without('relativePath')} END`,
    atime: isoTime('atimeMs'),
    ctime: isoTime('ctimeMs'),
    birthTime: isoTime('birthtimeMs'),
  };
}

/** Returns the expression for a path without its last segment. */
function without(path: string): string {
  return `substr(${path}, 1, max(0, length(${path}) - length(name || ext) - 1))`;
}

/** For the years 0 to 9999, SQLite's own function formats like `toISOString`, in half the time of a call to our own. */
function isoTime(column: string): string {
  const known = `${column} >= ${FOUR_DIGITS.from} AND ${column} < ${FOUR_DIGITS.to}`;
  const seconds = `floor(${column} + 0.5) / 1000.0`;
  return `CASE WHEN ${known} THEN strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch') ELSE iso_time(${column}) END`;
}

/** Media types that differ from those of Gatsby, which existing queries compare with. */
const KEPT: ReadonlyMap<string, string> = new Map([
  ['.js', 'application/javascript'],
  ['.mjs', 'application/javascript'],
  ['.sql', 'application/x-sql'],
]);

/** Returns the media type of an extension such as `.md`, ignoring case. The content is not checked. */
export function toMediaType(ext: string): string {
  return KEPT.get(ext.toLowerCase()) ?? mime.getType(ext) ?? 'application/octet-stream';
}

/** The root namespace, which makes the ids equal to Gatsby's. */
const SEED = '638f7a53-c567-4eca-8fc1-b23efb1cfb2b';

/** Returns a function that derives the ids of a plugin's records. The same text has the same id on every machine. */
export function createIdGenerator(plugin: string): (text: string) => string {
  return uuidsOf(uuidsOf(SEED)(plugin));
}

/** The size of the shared buffer, which fits the longest path. Longer texts get a buffer of their own. */
const ROOM_BYTES = 16 * 1024;

/** Returns a function that derives the ids of a namespace. It reuses a buffer that starts with the namespace. */
function uuidsOf(namespace: string): (text: string) => string {
  const start = toBytes(namespace);
  const room = Buffer.alloc(ROOM_BYTES);
  start.copy(room);
  const mostUnits = (ROOM_BYTES - start.length) / 3;
  return (text) =>
    text.length > mostUnits
      ? uuidV5(Buffer.concat([start, Buffer.from(text)]))
      : uuidV5(room.subarray(0, start.length + room.write(text, start.length)));
}

/** Formats a UUID version 5 (RFC 9562): the first 16 bytes of a SHA-1 with six bits for version and variant. */
function uuidV5(named: Buffer): string {
  const hex = hash('sha1', named, 'hex');
  const variant = ((parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function toBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** Returns the id of the file or folder at an absolute path. */
export const toFileId = createIdGenerator(FILE_PLUGIN);
