/** Copies of the end of the audit log in other places, so that a rewritten log is found. */
import { createSocket } from 'node:dgram';
import { appendFile, mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { BackupTarget } from '../../storage/backups/target.js';
import type { Database } from '../../storage/database.js';
import { readAuditHead } from './chain.js';
import { sequenceAuditEntries } from './sequence.js';
import { signCheckpoint } from './signatures.js';

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

async function sendToUrl(url: string, position: ExportedPosition): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(position), redirect: 'manual' } as const;
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(throwWithoutUrl);
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The receiver of audit positions responded with status ${response.status}.`);
}

/** The URL may contain a credential, and errors of `fetch` quote it. */
function throwWithoutUrl(error: unknown): never {
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: string } };
  const reason =
    name === 'TimeoutError'
      ? 'no response in time'
      : (cause?.code ?? 'its URL has a user name or a port that is not allowed');
  throw new Error(`The receiver of audit positions could not be reached: ${reason}`);
}

/** Facility 13 is the audit log, severity 5 a notice. */
const PRIORITY = 13 * 8 + 5;

async function sendToSyslog({ hostname: host, port }: URL, position: ExportedPosition): Promise<void> {
  const message = `<${PRIORITY}>1 ${position.time} ${hostname()} trellis - audit-position - ${JSON.stringify(position)}`;
  const address = host.replace(/^\[|\]$/g, '');
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
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
