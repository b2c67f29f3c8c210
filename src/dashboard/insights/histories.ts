/** Reads and stores the review times of recent pull requests, in the background after refreshes. */
import { singleFlightWithTrailingRun } from '@trellis/core/concurrency';
import { type Database, inTransaction } from '../../storage/database.js';
import type { PullRequestHistoriesTable } from '../../storage/tables.js';
import type { OpenConnection } from '../forges/forge-clients.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Forge } from '../forges/forge.js';
import type { HistoryRequest, HistorySnapshot, PullRequestHistory } from '../forges/history.js';
import { findReviewTimes } from './review-measures.js';

const DAY_MS = 86_400_000;

/** How long pull requests are stored after their last change; also the longest period of the API. */
const HISTORY_DAYS = 90;

/** The most pull requests of one user that are stored, of about 600 bytes each: the ones that changed last. */
const MAX_STORED = 5_000;

/**
 * The most repositories that are read after a refresh. At GitHub, this costs 10 points of 5,000 an hour, and one point
 * for each further 50 changed pull requests of a repository.
 */
const REPOSITORIES_A_PASS = 100;

/** A busy repository is not read more often, however many deliveries its webhooks send. */
const SPACING_MS = 600_000;

/** The pause after a forge failed to return a repository, so that the others are read meanwhile. */
const RETRY_MS = 3_600_000;

/** The share of an API quota that is left to refreshes and to the user's other programs. */
const RESERVED_SHARE = 0.25;

/** Pull requests that changed this long before the last read are read again, as clocks differ. */
const OVERLAP_MS = 300_000;

export interface Histories {
  /** Lets {@link read} send requests: only processes that refresh boards by schedule do. */
  start(): void;
  /** Ends reads in progress, which other processes or the next start continue. */
  close(): void;
  /** Reads the histories of a user's changed repositories, as far as the quotas allow. Errors of forges end it. */
  read(personId: string): Promise<void>;
}

interface HistoriesOptions {
  readonly database: Database;
  readonly getConnections: (personId: string) => Promise<readonly OpenConnection[]>;
  readonly now: () => number;
}

interface Place {
  readonly personId: string;
  /** The id of the credential. */
  readonly connection: string;
}

export function createHistories({ database, getConnections, now }: HistoriesOptions): Histories {
  const once = singleFlightWithTrailingRun();
  const stopped = new AbortController();
  /** When the repositories that a forge failed to return are read again, by their key. */
  const postponed = new Map<string, number>();
  let isStarted = false;

  async function readConnection(place: Place, { quotas, readHistory }: Forge): Promise<void> {
    if (readHistory === undefined || isQuotaLow(quotas, now())) return;
    const toKey = (id: string): string => `${place.personId} ${place.connection} ${id}`;
    const due = (await listDue(database, place, now())).filter(({ id }) => (postponed.get(toKey(id)) ?? 0) <= now());
    const revisions = new Map(due.map(({ id, revision }) => [id, revision]));
    const readAt = now();
    const save = (read: readonly Read[]): Promise<void> =>
      inTransaction(database, (transaction) => saveHistories(transaction, place, { read, readAt, at: now() }));
    const toRead = ({ id, pullRequests }: HistorySnapshot): Read[] =>
      pullRequests === undefined ? [] : [{ id, pullRequests, revision: revisions.get(id) ?? '' }];
    const done = new Set<string>();
    try {
      await readHistory(due, async (read) => {
        stopped.signal.throwIfAborted();
        await save(read.flatMap(toRead));
        for (const { id, pullRequests } of read) {
          if (pullRequests === undefined) postponed.set(toKey(id), now() + RETRY_MS);
          else postponed.delete(toKey(id));
          done.add(id);
        }
      });
      // The forge omitted them, and would do so again.
      await save(due.filter(({ id }) => !done.has(id)).flatMap(({ id }) => toRead({ id, pullRequests: [] })));
    } catch (error) {
      if (!(error instanceof ForgeError) && !stopped.signal.aborted) throw error;
    }
  }

  return {
    start: () => void (isStarted = true),
    close: () => stopped.abort(),
    read: (personId) =>
      once(personId, async () => {
        if (!isStarted || stopped.signal.aborted) return;
        const connections = await getConnections(personId);
        for (const { id, client } of connections) await readConnection({ personId, connection: id }, client);
      }),
  };
}

function isQuotaLow({ graphql, rest }: Forge['quotas'], at: number): boolean {
  return [graphql, rest].some(
    (quota) => quota !== undefined && quota.remaining < quota.limit * RESERVED_SHARE && Date.parse(quota.resetsAt) > at,
  );
}

interface DueRepository extends HistoryRequest {
  readonly revision: string;
}

/** Lists the repositories that changed since their history was read: new ones first, then the least recently read. */
async function listDue(database: Database, { personId, connection }: Place, at: number): Promise<DueRepository[]> {
  const rows = await database
    .selectFrom('forge_readings as snapshot')
    .leftJoin('history_readings as reading', (join) =>
      join
        .onRef('reading.person_id', '=', 'snapshot.person_id')
        .onRef('reading.forge', '=', 'snapshot.forge')
        .onRef('reading.repository_id', '=', 'snapshot.repository_id'),
    )
    .select([
      'snapshot.repository_id as id',
      'snapshot.full_name as fullName',
      'snapshot.revision as revision',
      'reading.read_at as readAt',
    ])
    .where('snapshot.person_id', '=', personId)
    .where('snapshot.forge', '=', connection)
    .where('snapshot.yours_only', '=', 0)
    .where('snapshot.revision', '!=', '')
    .where((is) =>
      is.or([
        is('reading.read_at', 'is', null),
        is.and([
          is('reading.read_at', '<=', at - SPACING_MS),
          is('reading.revision', '!=', is.ref('snapshot.revision')),
        ]),
      ]),
    )
    .orderBy((order) => order.fn.coalesce('reading.read_at', order.lit(0)))
    .orderBy('snapshot.pull_requests', 'desc')
    .orderBy('snapshot.repository_id')
    .limit(REPOSITORIES_A_PASS)
    .execute();
  const oldest = at - HISTORY_DAYS * DAY_MS;
  return rows.map(({ id, fullName, revision, readAt }) => {
    const since = readAt === null ? oldest : Math.max(readAt - OVERLAP_MS, oldest);
    return { id, fullName, revision, since };
  });
}

interface Read {
  readonly id: string;
  readonly pullRequests: readonly PullRequestHistory[];
  readonly revision: string;
}

interface NewHistories {
  readonly read: readonly Read[];
  /** The time before the requests to the forge. */
  readonly readAt: number;
  readonly at: number;
}

async function saveHistories(database: Database, place: Place, { read, readAt, at }: NewHistories): Promise<void> {
  if (read.length === 0) return;
  const { personId: person_id, connection: forge } = place;
  const readings = read.map(({ id, revision }) => ({ person_id, forge, repository_id: id, revision, read_at: readAt }));
  await database
    .insertInto('history_readings')
    .values(readings)
    .onConflict((conflict) =>
      conflict.columns(['person_id', 'forge', 'repository_id']).doUpdateSet((of) => ({
        revision: of.ref('excluded.revision'),
        read_at: of.ref('excluded.read_at'),
      })),
    )
    .execute();
  const rows = read.flatMap(({ id, pullRequests }) => pullRequests.map((one) => toRow(place, id, one)));
  for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT) {
    await saveRows(database, rows.slice(start, start + ROWS_A_STATEMENT));
  }
  await deleteExcess(database, person_id, at);
}

/** PostgreSQL accepts 65,535 parameters, SQLite 32,766. */
const ROWS_A_STATEMENT = 500;

const CHANGED = ['title', 'url', 'author', 'author_is_bot', 'is_draft', 'times', 'closed_at', 'updated_at'] as const;

async function saveRows(database: Database, rows: readonly PullRequestHistoriesTable[]): Promise<void> {
  await database
    .insertInto('pull_request_histories')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['person_id', 'forge', 'repository_id', 'number'])
        .doUpdateSet((of) => Object.fromEntries(CHANGED.map((name) => [name, of.ref(`excluded.${name}`)])))
        .whereRef('pull_request_histories.updated_at', '<=', 'excluded.updated_at'),
    )
    .execute();
}

function toRow({ personId, connection }: Place, repositoryId: string, one: PullRequestHistory) {
  const times = findReviewTimes(one);
  return {
    person_id: personId,
    forge: connection,
    repository_id: repositoryId,
    number: one.number,
    title: one.title,
    url: one.url,
    author: one.author,
    author_is_bot: one.authorIsBot ? 1 : 0,
    is_draft: one.isDraft ? 1 : 0,
    times: JSON.stringify(times),
    closed_at: times.closedAt ?? null,
    updated_at: Date.parse(one.updatedAt),
  };
}

/** Deletes the pull requests of a user that changed least recently, beyond the limits in age and number. */
async function deleteExcess(database: Database, personId: string, at: number): Promise<void> {
  const own = database.deleteFrom('pull_request_histories').where('person_id', '=', personId);
  await own.where('updated_at', '<', at - HISTORY_DAYS * DAY_MS).execute();
  const first = database
    .selectFrom('pull_request_histories')
    .select('updated_at')
    .where('person_id', '=', personId)
    .orderBy('updated_at', 'desc')
    .limit(1)
    .offset(MAX_STORED);
  await own.where('updated_at', '<=', first).execute();
}

/** Deletes expired pull requests of all users, and the read times of removed repositories. */
export async function deleteOldHistories(database: Database, at: number): Promise<void> {
  await database
    .deleteFrom('pull_request_histories')
    .where('updated_at', '<', at - HISTORY_DAYS * DAY_MS)
    .execute();
  await database
    .deleteFrom('history_readings')
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom('forge_readings')
            .select('forge_readings.repository_id')
            .whereRef('forge_readings.person_id', '=', 'history_readings.person_id')
            .whereRef('forge_readings.forge', '=', 'history_readings.forge')
            .whereRef('forge_readings.repository_id', '=', 'history_readings.repository_id'),
        ),
      ),
    )
    .execute();
}
