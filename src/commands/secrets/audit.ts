import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAllAfter } from '@trellis/client/paging';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { components } from '../../generated/secrets/client.js';
import { type CommandContext, unwrapResult, withContext } from './context.js';
import { EXIT, toCommandError, omitUndefined, parseCount } from './options.js';
import {
  addConnectionOptions,
  type ConnectionOptions,
  stateFolder,
  withFileLock,
  writePrivateFile,
} from './settings.js';
import { type Terminal, stripControlCharacters, toJson, writeOutput } from './terminal.js';

interface AuditCommandOptions extends ConnectionOptions {
  readonly object?: string;
  readonly by?: string;
  readonly actor?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly all?: true;
  readonly follow?: true;
  readonly verify?: true;
  readonly full?: true;
  readonly known?: { readonly entries: number; readonly head: string };
  readonly json?: true;
}

/** `trellis secrets audit`: prints or verifies the audit log. */
export function addAuditCommand(secrets: Command, terminal: Terminal): void {
  const audit = secrets
    .command('audit')
    .description('Print the audit log, oldest entry first')
    .option('--object <secret>', 'only entries of the secret with this name')
    .option('--by <name>', 'only entries with this client name')
    .option('--actor <id>', 'only entries of this session or token; "none" for requests without a credential')
    .option('--from <time>', 'only entries at or after this time, such as 2026-01-31 or 2026-01-31T09:00:00Z')
    .option('--to <time>', 'only entries before this time')
    .option('--limit <number>', 'number of newest entries', parseCount, 50)
    .option('--all', 'all entries')
    .option('--follow', 'follow new entries until interrupted')
    .option('--verify', 'verify the hash chain of the log instead; the exit code is 1 if it was altered')
    .option('--full', 'with --verify: verify all entries, not only those after the last signed one')
    .option(
      '--known <entries:head>',
      'with --verify: result of an earlier verification that the log must contain (default: the last one here)',
      parseKnown,
    )
    .option('--json', 'print JSON, one entry per line')
    .addHelpText(
      'after',
      `
Examples:
  trellis secrets audit --object db-password
  trellis secrets audit --follow --json | jq -r 'select(.action == "read") | .object_id'
  trellis secrets audit --verify`,
    );
  addConnectionOptions(audit).action((flags: AuditCommandOptions) =>
    withContext(terminal, flags, (session) =>
      flags.verify ? printVerification(session, flags) : printAuditLog(session, flags),
    ),
  );
}

function parseKnown(text: string): { readonly entries: number; readonly head: string } {
  const [, entries, head] = /^([1-9]\d{0,14}):([\da-f]{64})$/.exec(text) ?? [];
  if (entries !== undefined && head !== undefined) return { entries: Number(entries), head };
  throw new InvalidArgumentError('Expected a number and a hash, such as 41:9f86d0….');
}

type AuditLogEntry = components['schemas']['AuditLogEntry'];

/** The polling interval. An idle server responds from memory. */
const FOLLOW_MS = 1000;

/** The page size of the service. */
const MAX_PAGE = 500;

/** `audit`: prints the newest entries, or all, and then follows new ones. */
async function printAuditLog(session: CommandContext, flags: AuditCommandOptions): Promise<void> {
  const filter = toFilter(flags);
  const print = (entry: AuditLogEntry) =>
    writeOutput(session.terminal.out, flags.json ? toLine(entry) : describe(entry));
  // Fails if the service does not respond at the start.
  const newest = flags.follow ? await findLast(session) : 0;
  const first = flags.all ? [] : await readNewest(session, filter, flags.limit);
  for (const entry of first) await print(entry);
  if (!flags.all && !flags.follow) return;
  const last = flags.all ? 0 : Math.max(newest, ...first.map(({ id }) => id));
  const rest = flags.follow ? followFrom(session, filter, last) : readFrom(session, filter);
  for await (const entry of rest) await print(entry);
}

/** Reads new entries for ever. A service that does not respond is reported once, and requested again. */
async function* followFrom(session: CommandContext, filter: Filter, after: number): AsyncGenerator<AuditLogEntry> {
  const reported = new Set<string>();
  let last = after;
  for (;;) {
    try {
      for await (const entry of readFrom(session, filter, last)) {
        last = entry.id;
        yield entry;
      }
      reported.clear();
    } catch (error) {
      const failure = toCommandError(error, session.server);
      if (!(failure instanceof CommandError) || failure.exitCode !== EXIT.failed) throw error;
      if (!reported.has(failure.message)) session.say(`Can't read new entries: ${failure.message}`);
      reported.add(failure.message);
    }
    await sleep(FOLLOW_MS);
  }
}

type Filter = ReturnType<typeof toFilter>;

function toFilter({ object, by, actor, from, to }: AuditCommandOptions) {
  return omitUndefined({ object_id: object, caller: by, actor, from: toTime(from, '--from'), to: toTime(to, '--to') });
}

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Parses a time in ISO 8601. Without a time zone it is in UTC, as in the log; a date means midnight. */
function toTime(text: string | undefined, option: string): string | undefined {
  if (text === undefined) return undefined;
  const found = TIME.exec(text);
  const isLocal = found?.[1] !== undefined && found[2] === undefined;
  const time = new Date(isLocal ? `${text}Z` : text);
  if (found && !Number.isNaN(time.getTime())) return time.toISOString();
  throw new CommandError(`Expected ${option} to be a time such as 2026-01-31T09:00:00Z`, EXIT.usage);
}

/** Returns the id of the newest entry, so that entries that the filter excludes are not read again. */
async function findLast({ client }: CommandContext): Promise<number> {
  const query = { order: 'desc', limit: 1 } as const;
  const [entry] = await unwrapResult(client.GET('/audit-log', { params: { query } }));
  return entry?.id ?? 0;
}

const readFrom = ({ client }: CommandContext, filter: Filter, after?: number): AsyncIterable<AuditLogEntry> =>
  readAllAfter(
    (page) =>
      client.GET('/audit-log', { params: { query: { ...filter, ...omitUndefined({ ...page }), order: 'asc' } } }),
    omitUndefined({ after }),
  );

/** Returns the newest entries, oldest first; the service returns them newest first. */
async function readNewest({ client }: CommandContext, filter: Filter, limit: number): Promise<AuditLogEntry[]> {
  const found: AuditLogEntry[] = [];
  const pages = readAllAfter(
    (page) =>
      client.GET('/audit-log', { params: { query: { ...filter, ...omitUndefined({ ...page }), order: 'desc' } } }),
    { limit: Math.min(limit, MAX_PAGE) },
  );
  for await (const entry of pages) if (found.push(entry) === limit) break;
  return found.reverse();
}

const toLine = (entry: AuditLogEntry): string => toJson(entry, 0);

function describe(entry: AuditLogEntry): string {
  const { id, timestamp, action, subject_type = 'object', previous_slug, actor_type, actor_id, ip } = entry;
  const name = subject_type === 'object' ? entry.object_id : `${subject_type} ${entry.subject_id ?? ''}`;
  const notes = [
    ...(previous_slug === undefined ? [] : [`before: ${previous_slug}`]),
    ...(entry.signer === undefined ? [] : [`signed by ${entry.signer}`]),
    ...(entry.key === undefined ? [] : [`key: ${entry.key}`]),
    ...(entry.reason === undefined ? [] : [entry.reason]),
    ...(entry.count === undefined || entry.count === 1 ? [] : [`${entry.count} times`]),
    ...((entry.names ?? []).length === 0 ? [] : [`names: ${(entry.names ?? []).join(' ')}`]),
    ...(entry.previous_key === undefined ? [] : [`key before: ${entry.previous_key}`]),
    ...(entry.rule === undefined ? [] : [`rule ${entry.rule}`]),
    ...(entry.token_subject === undefined ? [] : [`workload ${entry.token_subject}`]),
    ...(entry.token_issuer === undefined ? [] : [`issuer ${entry.token_issuer}`]),
    ...(entry.device_ip === undefined ? [] : [`device ${entry.device ?? ''} at ${entry.device_ip}`]),
  ];
  const what = notes.length === 0 ? name : `${name} (${notes.join(', ')})`;
  const who = actor_type === undefined ? 'no credential' : `${actor_type} ${actor_id ?? ''}`.trim();
  const from = entry.caller === undefined ? ip : `${ip} as ${entry.caller}`;
  return `${stripControlCharacters(`${id}  ${timestamp}  ${action}  ${what}  ${who}  ${from}`)}\n`;
}

/**
 * `audit --verify`: verifies the hash chain, at the server and on this machine, from the position of the last
 * verification or, with `--full`, all of it.
 */
async function printVerification(session: CommandContext, { json, known: given, ...flags }: AuditCommandOptions) {
  const full = flags.full === true;
  const known = given ?? (await readPosition(session));
  const hint = given === undefined && known !== undefined ? `\n${hintAtRestore(session)}` : '';
  const found = await requestVerification(session, { known, full });
  if (json) await writeOutput(session.terminal.out, toLine(found as never));
  const { intact, entries, head = '', verified_from: from = 1, first_broken_id: broken, reason = 'altered' } = found;
  const { altered = [], unrecorded = 0, verified = 0 } = found.values ?? {};
  if (broken === undefined && altered.length > 0) throw new CommandError(describeAltered(altered), EXIT.failed);
  if (!intact) {
    throw new CommandError(`The audit log was altered: entry ${broken ?? 0} is ${reason}${hint}`, EXIT.failed);
  }
  const after = full ? 0 : (known?.entries ?? from - 1);
  const own = await verifyEntries(session, { entries, head }, { known, after, hint });
  if (entries > 0) await savePosition(session, { entries, head });
  const part = own === 1 ? '' : ` (verified from ${own}; --full verifies all)`;
  if (json) return;
  await writeOutput(session.terminal.out, `Intact: ${entries} entries${part}, ${entries}:${head}\n`);
  session.say(`Values: ${verified} match the log${unrecorded === 0 ? '' : `; ${unrecorded} have no digest in it`}`);
}

/** The log of a restored backup ends before the last verified position, or continues differently. */
const hintAtRestore = (session: CommandContext): string =>
  `If a backup was restored since the last verification, delete the position of this service in ${positionsPath(session)}`;

function describeAltered(altered: components['schemas']['ValueVerification']['altered']): string {
  const lines = altered.map(
    ({ object_id: slug, variant_id: id, version, reason }) => `${slug} (${id}), version ${version}: ${REASONS[reason]}`,
  );
  return `Stored values differ from the audit log:\n  ${lines.join('\n  ')}`;
}

const REASONS: Readonly<Record<components['schemas']['AlteredValue']['reason'], string>> = {
  value: 'the value was changed',
  version: 'it is not the value that was stored last',
  recipients: 'the recorded recipients were changed',
  signature: 'its signature was removed or replaced',
  missing: 'the value is missing',
  unknown: 'the log has no entry about it',
};

/** A position of the audit log: the number of entries, and the hash of the last one. */
interface AuditPosition {
  readonly entries: number;
  readonly head: string;
}

interface VerificationStart {
  /** The position that an earlier verification ended at, which the entries must continue or contain. */
  readonly known: AuditPosition | undefined;
  /** The number of the last entry that is not verified. */
  readonly after: number;
  /** Added to the error for an altered log. */
  readonly hint: string;
}

/**
 * Reads entries up to a position, computes their hashes on this machine, and compares them with it, so that a server can't
 * claim that a log is intact. The first entry after an archive is not verified, as its predecessor is unknown.
 *
 * @returns the number of the first verified entry.
 * @throws CommandError if an entry is missing or differs.
 */
async function verifyEntries(
  { client }: CommandContext,
  end: AuditPosition,
  { known, after, hint }: VerificationStart,
): Promise<number> {
  const altered = (id: number, reason: string): CommandError =>
    new CommandError(
      `The audit log was altered: entry ${id} is ${reason}, as computed on this machine${hint}`,
      EXIT.failed,
    );
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
    // A server that has sent hashes before must send them.
    if (entry.hash === undefined && known === undefined && !previous) throw new CommandError(NO_HASHES, EXIT.failed);
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

const NO_HASHES =
  'This machine could not verify the audit log, as the service sent no hashes. ' +
  'Servers of release 0.1.0 do not send them: upgrade the server';

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
async function readPosition(session: CommandContext): Promise<AuditPosition | undefined> {
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
async function savePosition(session: CommandContext, position: AuditPosition): Promise<void> {
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
function requestVerification(
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
