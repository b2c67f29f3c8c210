/**
 * The objects of a published index, below the prefix of its bucket:
 *
 * - `head.json` names all others. It is replaced conditionally, so that two publishers can't alternate.
 * - `base/<sha256>`: the records as a compressed SQLite database.
 * - `changes/<sha256>`: compressed changes of transactions since the base.
 * - `site/<sha256>`: the configuration of the site.
 * - `files/<md5>`: files of the site by their content digest.
 * - `packs/<sha256>`: many small files of the site, one after the other.
 * - `catalogs/<sha256>`: compressed lists of the packs and their files.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { ProblemReport } from '@trellis/site/sources/problems';
import { type ObjectStore, DAMAGED, ObjectStoreError } from '../../storage/objects/object-store.js';

export const HEAD_KEY = 'head.json';

/** The version of this layout. A server reads no other one. */
const FORMAT = 1;

/** An immutable object, named by the digest of its bytes. */
export interface IndexObject {
  readonly key: string;
  /** The size of the content before compression. */
  readonly bytes: number;
}

/** The changes of consecutive transactions. */
export interface IndexChanges extends IndexObject {
  readonly from: number;
  readonly to: number;
}

/** The published state of the records. */
export interface PublishedIndex {
  /** Identifies the records, whose transactions are numbered. */
  readonly origin: string;
  /** The digest of the schema of the records. */
  readonly schema: string;
  /** The last transaction. */
  readonly sequence: number;
  readonly base: IndexObject & { readonly sequence: number };
  readonly changes: readonly IndexChanges[];
  readonly site: IndexObject;
  /** The lists of all packs. */
  readonly catalogs?: readonly IndexObject[];
  /** The time of the last change since the start of the publisher, in milliseconds. */
  readonly changedAt: number | undefined;
  readonly problems: ProblemReport;
}

/** The index that a server has published, or follows. */
export interface IndexProgress extends Pick<PublishedIndex, 'origin' | 'sequence'> {
  /** The time since the bucket last confirmed it, in seconds; `undefined` before the first time. */
  readonly ageSeconds: number | undefined;
}

export interface IndexHead {
  readonly format: number;
  /** Increases with each write, at least every 10 seconds while the publisher runs. */
  readonly revision: number;
  /** `id` belongs to the state folder of a publisher, `session` to its process. */
  readonly publisher: { readonly id: string; readonly session: string; readonly release: string };
  /** Absent until the first scan is complete. */
  readonly index?: PublishedIndex;
}

/** The interval in which a publisher replaces the head, so that others see that it runs. */
export const RENEWAL_MS = 10_000;

/** A head of a large site with a hundred problems takes about 50 kB. */
const MAX_HEAD_BYTES = 2 ** 20;

interface ReadHead {
  readonly head: IndexHead;
  readonly etag: string;
}

/**
 * Reads the head unless it still has the ETag. Returns `undefined` if none is published.
 *
 * @throws ObjectStoreError for a damaged head, or the head of a different release with another layout.
 */
export async function readHead(
  store: ObjectStore,
  etag: string | undefined,
  signal: AbortSignal,
): Promise<ReadHead | 'unchanged' | undefined> {
  const found = await store.getChanged(HEAD_KEY, etag, signal);
  if (found === undefined || found === 'unchanged') return found;
  const text = (await readBytes(found.body, MAX_HEAD_BYTES)).toString();
  return { head: parseHead(text, store.address), etag: found.etag };
}

export const formatHead = (head: Omit<IndexHead, 'format'>): Uint8Array =>
  Buffer.from(JSON.stringify({ format: FORMAT, ...head }));

/** The inverse of {@link formatHead}. */
function parseHead(text: string, address: string): IndexHead {
  const invalid = (reason: string): ObjectStoreError =>
    new ObjectStoreError(`${address}/${HEAD_KEY} ${reason}.`, { isTemporary: false, code: DAMAGED });
  let head: unknown;
  try {
    head = JSON.parse(text);
  } catch {
    throw invalid('is not JSON');
  }
  if (!isRecord(head)) throw invalid('is not the head of an index');
  if (head.format !== FORMAT) throw invalid(`has the format ${String(head.format)}; this release reads ${FORMAT}`);
  if (!isHead(head)) throw invalid('is not the head of an index');
  return head;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

function isHead(value: unknown): value is IndexHead {
  if (!isRecord(value) || !isRecord(value.publisher)) return false;
  const { id, session } = value.publisher;
  const isPublisher = typeof id === 'string' && typeof session === 'string';
  return isPublisher && isCount(value.revision) && (value.index === undefined || isIndex(value.index));
}

function isIndex(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.problems) || !Array.isArray(value.changes)) return false;
  const { origin, schema, sequence, base, site, catalogs = [], problems } = value;
  const changes: readonly unknown[] = value.changes;
  return (
    typeof origin === 'string' &&
    typeof schema === 'string' &&
    isCount(sequence) &&
    hasCounts(base, ['sequence']) &&
    hasCounts(site, []) &&
    Array.isArray(catalogs) &&
    catalogs.every((catalog) => hasCounts(catalog, [])) &&
    changes.every((change) => hasCounts(change, ['from', 'to'])) &&
    Array.isArray(problems.entries) &&
    isCount(problems.count)
  );
}

const KEY = /^(base|catalogs|changes|site)\/[0-9a-f]{64}$/;

/** Whether a value names an object, and has these further numbers. */
const hasCounts = (value: unknown, names: readonly string[]): boolean =>
  isRecord(value) &&
  typeof value.key === 'string' &&
  KEY.test(value.key) &&
  ['bytes', ...names].every((name) => isCount(value[name]));

/** Returns the key of an object with these bytes. */
export const toObjectKey = (folder: 'base' | 'catalogs' | 'changes' | 'site', digest: string): string =>
  `${folder}/${digest}`;

/** Returns the key of a file of the site. */
export const toFileKey = (contentDigest: string): string => `files/${contentDigest}`;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Stores bytes under their digest. */
export async function putObject(
  store: ObjectStore,
  folder: 'catalogs' | 'changes' | 'site',
  content: Uint8Array,
  signal: AbortSignal,
): Promise<IndexObject> {
  const bytes = await compress(content);
  const key = toObjectKey(folder, createHash('sha256').update(bytes).digest('hex'));
  await store.put(key, bytes, { ifAbsent: true, signal });
  return { key, bytes: content.byteLength };
}

/** @throws ObjectStoreError if the object is missing or damaged. */
export async function getObject(store: ObjectStore, { key, bytes }: IndexObject, signal: AbortSignal): Promise<Buffer> {
  const found = await store.get(key, { signal });
  if (found === undefined) throw missing(store, key);
  // Compressed data is at most a little larger than its content.
  const content = await readBytes(found.body, bytes + bytes / 100 + 1024);
  if (createHash('sha256').update(content).digest('hex') !== key.split('/')[1]) throw damaged(store, key);
  const whole = await decompress(content, { maxOutputLength: Math.max(1, bytes) }).catch(() => undefined);
  if (whole?.byteLength !== bytes) throw damaged(store, key);
  return whole;
}

export const missing = (store: ObjectStore, key: string): ObjectStoreError =>
  new ObjectStoreError(`${store.address}/${key} is missing.`, { isTemporary: true, code: 'NoSuchKey' });

export const damaged = (store: ObjectStore, key: string): ObjectStoreError =>
  new ObjectStoreError(`${store.address}/${key} is damaged.`, { isTemporary: false, code: DAMAGED });

async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes)
      throw new ObjectStoreError('An object is larger than expected.', { isTemporary: false, code: DAMAGED });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Concatenates changesets, each after its length. */
export function packChangesets(changesets: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    changesets.flatMap((changeset) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(changeset.byteLength);
      return [length, changeset];
    }),
  );
}

/** The inverse of {@link packChangesets}. */
export function unpackChangesets(packed: Buffer): Uint8Array[] {
  const changesets: Uint8Array[] = [];
  for (let at = 0; at < packed.byteLength;) {
    const end = at + 4 + packed.readUInt32BE(at);
    if (end > packed.byteLength) throw new RangeError('A changeset is incomplete.');
    changesets.push(packed.subarray(at + 4, end));
    at = end;
  }
  return changesets;
}
