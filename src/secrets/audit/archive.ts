/** The retention of the audit log: entries are stored in files before they are deleted. */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { appendFile, mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { unescape } from 'node:querystring';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { BackupTarget } from '../../storage/backups/target.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { AuditArchivesTable, AuditLogTable } from '../../storage/tables.js';
import { type AuditHead, hashAuditEntry, readAuditHead } from './chain.js';
import { sequenceAuditEntries } from './sequence.js';
import { signArchive, signCheckpoint } from './signatures.js';
import { readArchivedHead, readAuditEntries } from './verify-chain.js';

/** The number of entries per file, which one transaction deletes in less than two seconds. */
const MAX_ENTRIES = 20_000;

/** The number of files per run, so that other tasks of the hour follow soon. */
const MAX_FILES = 50;

export interface AuditRetention {
  readonly target: BackupTarget;
  /** The number of whole calendar months, in UTC, whose entries are kept in addition to those of this month. */
  readonly months: number;
}

/**
 * Stores the entries of earlier months in files, and deletes each entry once its file was read back and compared. Several
 * servers may do so at the same time.
 *
 * @throws Error if the chain is broken, or a file can't be stored or differs; its entries are kept.
 */
export async function archiveAuditLog(
  database: Database,
  {
    target,
    months,
    at,
    maxEntries = MAX_ENTRIES,
  }: AuditRetention & { readonly at: number; readonly maxEntries?: number },
): Promise<void> {
  await sequenceAuditEntries(database);
  const before = startOfMonth(at, -months);
  for (let files = 0; files < MAX_FILES; files += 1) {
    const base = await readArchivedHead(database);
    const lines = createLines(database, base, { before, maxEntries });
    const archive = await storeFile(target, base, lines);
    if (archive === undefined) return;
    await deleteArchived(database, base, { ...archive, archived_at: at });
  }
}

function startOfMonth(at: number, offset: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset);
}

/** The entries of a file as lines of JSON, which are read once. */
interface Lines extends AsyncIterable<string> {
  /** The end of the chain of the lines that were read. */
  readonly end: AuditHead;
}

/** Reads the oldest entries, up to the first of a later time, and verifies their part of the chain. */
function createLines(
  database: Database,
  base: AuditHead,
  { before, maxEntries }: { readonly before: number; readonly maxEntries: number },
): Lines {
  let end = base;
  async function* read(): AsyncGenerator<string> {
    const head = await readAuditHead(database);
    for await (const row of readAuditEntries(database, base.count)) {
      if (row.at >= before || row.id > head.count || end.count - base.count === maxEntries) return;
      end = follow(end, row);
      yield `${JSON.stringify(row)}\n`;
    }
  }
  return {
    [Symbol.asyncIterator]: read,
    get end() {
      return end;
    },
  };
}

/** @throws Error if the entry is not the next one of the chain. */
function follow({ count, hash }: AuditHead, row: AuditLogTable): AuditHead {
  const id = count + 1;
  if (row.id !== id || row.hash !== hashAuditEntry(hash, row))
    throw new Error(`The audit log is broken at entry ${id}; verify it. No entry was archived.`);
  return { count: id, hash: row.hash };
}

type StoredArchive = Omit<AuditArchivesTable, 'archived_at' | 'signature'>;

/** Returns `undefined` if there is nothing to store. */
async function storeFile(target: BackupTarget, base: AuditHead, lines: Lines): Promise<StoredArchive | undefined> {
  const texts: string[] = [];
  const digest = createHash('sha256');
  for await (const line of lines) {
    texts.push(line);
    digest.update(line);
  }
  if (texts.length === 0) return undefined;
  const [firstId, lastId] = [base.count + 1, lines.end.count];
  const name = toArchiveName(firstId, lastId);
  const expected = digest.digest('hex');
  // An earlier run may have stored the file, and failed before it deleted the entries; or another server has stored it.
  if ((await target.find(name)) === undefined) {
    await target
      .write(name, Readable.from(texts).pipe(createGzip()), { overwrite: false })
      .catch(async (error: unknown) => {
        if ((await target.find(name)) === undefined) throw error;
      });
  }
  if ((await digestOf(target, name)) !== expected)
    throw new Error(`The stored file ${name} differs from the audit log. Its entries are kept.`);
  return { first_id: firstId, last_id: lastId, hash: lines.end.hash, name, digest: expected };
}

const toArchiveName = (firstId: number, lastId: number): string =>
  `trellis-audit-${[firstId, lastId].map((id) => String(id).padStart(12, '0')).join('-')}.jsonl.gz`;

/** Returns the SHA-256 of the text of a stored file, in hexadecimal. */
async function digestOf(target: BackupTarget, name: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(await target.read(name), createGunzip(), digest);
  return digest.digest('hex');
}

async function deleteArchived(
  database: Database,
  base: AuditHead,
  archive: Omit<AuditArchivesTable, 'signature'>,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    // Another server has archived the same entries.
    if ((await readArchivedHead(transaction)).count !== base.count) return;
    const signature = signArchive(transaction, archive) ?? '';
    await transaction
      .insertInto('audit_archives')
      .values({ ...archive, signature })
      .execute();
    await transaction.deleteFrom('audit_checkpoints').where('id', '<=', archive.last_id).execute();
    await transaction.deleteFrom('audit_log').where('id', '<=', archive.last_id).execute();
  });
}

// Copies of the end of the audit log in other places, so that a rewritten log is found.

interface ExportedPosition {
  readonly time: string;
  readonly entries: number;
  readonly head: string;
  /** The HMAC by the key that is derived from the server key; absent without a server key. */
  readonly signature?: string;
}

/** Stores a position in one place. */
type Export = (position: ExportedPosition) => Promise<void>;

const TIMEOUT_MS = 10_000;

/**
 * Returns the function that stores positions in a place: a file, to which a line of JSON is added; `s3://bucket/prefix`, as
 * an object for each position; an http or https URL, which gets a POST; or `syslog://host:port`, as a message of RFC 5424
 * over UDP.
 */
export function createExport(place: string, openTarget: (place: string) => Promise<BackupTarget>): Export {
  if (place.startsWith('s3://')) return async (position) => storeObject(await openTarget(place), position);
  if (/^https?:\/\//.test(place)) return (position) => sendToUrl(place, position);
  if (place.startsWith('syslog://')) return (position) => sendToSyslog(new URL(place), position);
  return (position) => appendLine(path.resolve(place), position);
}

async function storeObject(target: BackupTarget, position: ExportedPosition): Promise<void> {
  const name = `trellis-audit-position-${String(position.entries).padStart(12, '0')}.json`;
  // Another server may have stored the same position.
  if ((await target.find(name)) === undefined) {
    await target.write(name, Readable.from([JSON.stringify(position)]), { overwrite: true });
  }
}

async function sendToUrl(place: string, position: ExportedPosition): Promise<void> {
  const { url, authorization } = takeCredentials(place);
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
  const init = { method: 'POST', headers, body: JSON.stringify(position), redirect: 'manual' } as const;
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(throwWithoutUrl);
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The receiver of audit positions responded with status ${response.status}.`);
}

/** Removes the user name and password from a URL, which `fetch` rejects there, and returns them as a header. */
function takeCredentials(place: string): { readonly url: string; readonly authorization: string | undefined } {
  if (!URL.canParse(place)) return { url: place, authorization: undefined };
  const url = new URL(place);
  const credentials = [url.username, url.password].map((text) => unescape(text)).join(':');
  [url.username, url.password] = ['', ''];
  const authorization = credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { url: url.href, authorization };
}

/** The URL may contain a credential, and errors of `fetch` quote it. */
function throwWithoutUrl(error: unknown): never {
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: string } };
  const reason =
    name === 'TimeoutError' ? 'no response in time' : (cause?.code ?? 'its URL has a port that is not allowed');
  throw new Error(`The receiver of audit positions could not be reached: ${reason}`);
}

/** Facility 13 is the audit log, severity 5 a notice. */
const PRIORITY = 13 * 8 + 5;

async function sendToSyslog({ hostname: host, port }: URL, position: ExportedPosition): Promise<void> {
  const message = `<${PRIORITY}>1 ${position.time} ${hostname()} trellis - audit-position - ${JSON.stringify(position)}`;
  const { address, family } = await lookup(host.replace(/^\[|\]$/g, ''));
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.send(message, Number(port || 514), address, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    socket.close();
  }
}

async function appendLine(file: string, position: ExportedPosition): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await appendFile(file, `${JSON.stringify(position)}\n`, { mode: 0o600 });
}

/**
 * Creates a function that stores the end of the audit log in all places, unless it stored the same one before.
 *
 * The function throws AggregateError after it has tried all places.
 */
export function createPositionExport(
  database: Database,
  exports: readonly Export[],
  now: () => number = Date.now,
): () => Promise<void> {
  let last = 0;
  return async () => {
    await sequenceAuditEntries(database);
    const { count, hash } = await readAuditHead(database);
    if (count === last) return;
    const signature = signCheckpoint(database, { count, hash });
    const position = {
      time: new Date(now()).toISOString(),
      entries: count,
      head: hash,
      ...(signature && { signature }),
    };
    const results = await Promise.allSettled(exports.map((store) => store(position)));
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
    if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join(' '));
    last = count;
  };
}
