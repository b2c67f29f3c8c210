/** Records denied requests in the audit log: few entries, however many requests are denied. */
import type { AppError } from '@trellis/core/errors';
import type { Caller } from '../../accounts/callers.js';
import type { Database } from '../../storage/database.js';
import { findRestrictions } from '../token-scope.js';
import { appendAuditEntries, type NewAuditEntry, type RequestOrigin, toActor } from './chain.js';

/** A request that ended in an error. */
export interface FailedRequest {
  /** The `operationId`. */
  readonly operation: string;
  /** `undefined` if the credential is missing or invalid. */
  readonly caller: Caller | undefined;
  /** Whether the request had a credential, valid or not. */
  readonly hasCredential: boolean;
  readonly address: string;
  /** The name that the client gave itself. */
  readonly callerName?: string;
  /** The name of the requested secret, if any. */
  readonly slug?: string;
  /** The token of a workload that was not exchanged. */
  readonly workload?: WorkloadClaims;
  readonly error: AppError;
}

/** The claims of the token of a workload, whose signature may be invalid. */
export interface WorkloadClaims {
  readonly issuer?: string;
  readonly subject?: string;
}

export interface DenialLog {
  /** Records a request if it was denied. It returns at once; the entry is written afterwards. */
  record(request: FailedRequest): void;
  /** Writes the entries of the current window. */
  flush(): Promise<void>;
  /** Writes all entries, and records nothing more. */
  close(): Promise<void>;
}

interface DenialLogOptions {
  /** Receives errors of writing entries, which are lost then. */
  readonly report: (error: unknown) => void;
  /** The time in which equal denials share an entry. */
  readonly windowMs?: number;
  /** The kinds of denials of one source in a window; the others share one entry. */
  readonly maxPerSource?: number;
  readonly now?: () => number;
}

const WINDOW_MS = 600_000;
const MAX_PER_SOURCE = 10;

/**
 * The limit of sources in a window, with and without a valid credential each; the others share one entry, so that a flood
 * can't fill the log. A flood of invalid credentials hides no denial of a valid one.
 */
const MAX_SOURCES = 200;

/** The requested names that an entry contains. */
const MAX_NAMES = 10;

/** Denials that share an entry. */
interface Group {
  readonly operation: string;
  readonly reason: string;
  readonly origin: RequestOrigin;
  readonly workload: WorkloadClaims | undefined;
  readonly names: Set<string>;
  count: number;
}

/**
 * Creates the log of denied requests. The first denial of its kind and source is recorded at once, and further ones
 * together at the end of the window.
 */
export function createDenialLog(database: Database, options: DenialLogOptions): DenialLog {
  const { report, windowMs = WINDOW_MS, maxPerSource = MAX_PER_SOURCE, now = Date.now } = options;
  const sources = new Map<string, Map<string, Group>>();
  const counts = { anonymous: 0, identified: 0 };
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  const write = (groups: readonly Group[]): Promise<void> => {
    const entries = groups.map((group) => ({ entry: toEntry(group), origin: group.origin }));
    for (const group of groups) {
      group.count = 0;
      group.names.clear();
    }
    if (entries.length > 0) writing = writing.then(() => appendAuditEntries(database, entries)).catch(report);
    return writing;
  };

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const open = [...sources.values()].flatMap((groups) => [...groups.values()]).filter(({ count }) => count > 0);
    sources.clear();
    counts.anonymous = counts.identified = 0;
    return write(open);
  };

  const findGroup = (request: FailedRequest): { readonly group: Group; readonly isNew: boolean } => {
    const { operation, caller, address, error } = request;
    const actor = caller && toActor(caller);
    const source = `${address} ${actor?.type ?? ''} ${actor?.id ?? ''}`;
    const kind = actor ? 'identified' : 'anonymous';
    const isNewSource = !sources.has(source) && counts[kind] < MAX_SOURCES;
    if (isNewSource) counts[kind] += 1;
    const isKnownSource = isNewSource || sources.has(source);
    const groups = sources.get(isKnownSource ? source : '') ?? new Map<string, Group>();
    sources.set(isKnownSource ? source : '', groups);
    const key = JSON.stringify([operation, error.code, request.workload]);
    const isListed = isKnownSource && (groups.has(key) || groups.size < maxPerSource);
    const known = groups.get(isListed ? key : '');
    if (known !== undefined) return { group: known, isNew: false };
    const group: Group = {
      operation: isListed ? operation : OTHER,
      reason: isListed ? error.code : OTHER,
      origin: isKnownSource ? toOrigin(request, now()) : { caller: undefined, ip: '', at: now() },
      workload: isListed ? request.workload : undefined,
      names: new Set(),
      count: 0,
    };
    groups.set(isListed ? key : '', group);
    return { group, isNew: true };
  };

  return {
    record(request) {
      if (isClosed || !isDenied(request)) return;
      const { group, isNew } = findGroup(request);
      group.count += 1;
      if (request.slug !== undefined && group.names.size < MAX_NAMES) group.names.add(request.slug.slice(0, 128));
      if (isNew) void write([group]);
      timer ??= setTimeout(() => void flush(), windowMs).unref();
    },
    flush,
    async close() {
      isClosed = true;
      await flush();
    },
  };
}

/** Replaces the operation and the reason of denials that share an entry because there are too many kinds. */
const OTHER = 'other';

const DENIED: readonly string[] = ['unauthenticated', 'forbidden', 'session_required', 'cross_site'];

/** Requests without a credential are not recorded: pages send them until the user signs in. */
function isDenied({ caller, hasCredential, workload, error }: FailedRequest): boolean {
  if (!hasCredential) return false;
  if (workload !== undefined) return true;
  if (DENIED.includes(error.code)) return true;
  // The secrets of others look as if they were unknown.
  const isLimited = caller?.kind === 'consumer_token' || findRestrictions(caller) !== undefined;
  return isLimited && error.code === 'not_found';
}

function toOrigin({ caller, callerName, address }: FailedRequest, at: number): RequestOrigin {
  return { caller, callerName, ip: address, at };
}

function toEntry({ operation, reason, names, workload, count }: Group): NewAuditEntry {
  const detail = { reason, count, ...(names.size > 0 && { names: [...names] }), ...workload };
  return { action: 'denied', subjectType: 'request', subjectId: operation, detail };
}
