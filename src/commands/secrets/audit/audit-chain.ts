import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readAllAfter } from '@trellis/client/paging';
import { CommandError } from '../../../config/startup-error.js';
import type { components } from '../../../generated/secrets/client.js';
import { type CommandContext, unwrapResult } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { stateFolder, withFileLock, writePrivateFile } from '../settings.js';

/** A position of the audit log: the number of entries, and the hash of the last one. */
export interface AuditPosition {
  readonly entries: number;
  readonly head: string;
}

type AuditLogEntry = components['schemas']['AuditLogEntry'];

/**
 * Reads entries up to a position, computes their hashes on this machine, and compares them with it, so that a server can't
 * claim that a log is intact. The first entry after an archive is not verified, as its predecessor is unknown.
 *
 * @param known The position that an earlier verification ended at, which the entries must continue or contain.
 * @returns the number of the first verified entry.
 * @throws CommandError if an entry is missing or differs.
 */
export async function verifyEntries(
  { client }: CommandContext,
  end: AuditPosition,
  { known, after }: { readonly known: AuditPosition | undefined; readonly after: number },
): Promise<number> {
  if (known !== undefined && known.entries > end.entries) throw altered(end.entries + 1, 'missing');
  let previous = after === 0 ? '' : known?.entries === after ? known.head : undefined;
  let [first, next] = [after + 1, after + 1];
  const query = { order: 'asc', chain: true } as const;
  const entries = readAllAfter((page) => client.GET('/audit-log', { params: { query: { ...query, ...page } } }), {
    ...{ after, limit: MAX_PAGE },
  });
  for await (const entry of entries) {
    if (entry.id > end.entries) break;
    // The entries before were archived.
    if (next === 1 && entry.id > 1) {
      first = next = entry.id;
      previous = known?.entries === entry.id - 1 ? known.head : undefined;
    }
    if (entry.id !== next) throw altered(next, 'missing');
    const hash = previous === undefined ? entry.hash : hashEntry(previous, entry);
    if (hash === undefined || hash !== entry.hash) throw altered(next, 'changed');
    if (known?.entries === next && known.head !== hash) throw altered(next, 'not the one of an earlier verification');
    [previous, next] = [hash, next + 1];
  }
  if (next !== end.entries + 1) throw altered(next, 'missing');
  if ((previous ?? '') !== end.head) throw altered(end.entries, 'not the reported one');
  if (known !== undefined && known.entries < first - 1) throw altered(known.entries, 'missing');
  return first;
}

const MAX_PAGE = 500;

const altered = (id: number, reason: string): CommandError =>
  new CommandError(`The audit log was altered: entry ${id} is ${reason}, as computed on this machine`, EXIT.failed);

/** Computes the hash of an entry, as the contract describes it. */
function hashEntry(previous: string, entry: AuditLogEntry): string {
  const { id, action, subject_type: type, object_id: slug, timestamp, ip, facts } = entry;
  const about = [type, slug === '' ? undefined : slug, entry.variant_id, entry.version, entry.subject_id];
  const origin = [Date.parse(timestamp), ip, entry.caller, entry.actor_type, entry.actor_id];
  const values = [previous, id, action, ...about, entry.previous_slug, ...origin];
  const text = JSON.stringify([...values.map((value) => value ?? null), ...(facts === undefined ? [] : [facts])]);
  return createHash('sha256').update(text).digest('hex');
}

/** The last verified positions of services, by their URL. */
const positionsPath = (session: CommandContext): string =>
  join(stateFolder(session.terminal.env), 'audit-positions.json');

/** @throws CommandError for a file that can't be read: without it a rewritten log would go unnoticed. */
export async function readPosition(session: CommandContext): Promise<AuditPosition | undefined> {
  const positions = await readPositions(positionsPath(session));
  return Object.hasOwn(positions, session.server) ? positions[session.server] : undefined;
}

async function readPositions(file: string): Promise<Readonly<Record<string, AuditPosition>>> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    const positions = JSON.parse(text) as Readonly<Record<string, AuditPosition>>;
    const isFit = ({ entries, head }: AuditPosition) => Number.isSafeInteger(entries) && /^[\da-f]{64}$/.test(head);
    if (Object.values(positions).every(isFit)) return positions;
  } catch {
    // Reported below.
  }
  throw new CommandError(
    `${file}: this is not a valid file of verified positions; restore it or delete it`,
    EXIT.usage,
  );
}

/** Saves the position of a successful verification. A file that cannot be written causes only a warning. */
export async function savePosition(session: CommandContext, position: AuditPosition): Promise<void> {
  const file = positionsPath(session);
  try {
    await withFileLock(file, async () => {
      const positions = { ...(await readPositions(file)), [session.server]: position };
      await writePrivateFile(file, `${JSON.stringify(positions, undefined, 2)}\n`);
    });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    session.say(`${file}: the verified position could not be saved (${reason}). A rewritten log may go unnoticed.`);
  }
}

/** Adds a hint to the error of a position that the server does not accept, such as one before an archive. */
export function requestVerification(
  session: CommandContext,
  { known, full }: { readonly known: AuditPosition | undefined; readonly full: boolean },
) {
  const query = { ...known, ...(full && { full }) };
  return unwrapResult(session.client.GET('/audit-log/verify', { params: { query } })).catch((error: unknown) => {
    const { statusCode, message } = error as { readonly statusCode?: number; readonly message: string };
    if (known === undefined || statusCode !== 400) throw error;
    const place = positionsPath(session);
    throw new CommandError(`${message} The last verified position is in ${place}; --known names another`, EXIT.failed);
  });
}
