import { type Caller, requireUser, type UserCaller } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import type { ForgeConnection } from '../forges/forge-clients.js';
import type { ForgeName } from '../forges/forge.js';
import {
  listSamples,
  type MeasuredPullRequest,
  MEASURES,
  type TimeSpan,
  type RowMeasure,
  type Sample,
  toDistribution,
  toHistogram,
  roundToSeconds,
  type ReviewTimes,
} from './review-measures.js';

type Schemas = components['schemas'];
type Body = Schemas['ReviewInsights'];
type Row = Schemas['ReviewRow'];

interface ReviewScope {
  /** The username of an owner who shares their board; by default the caller. */
  readonly owner?: string;
  /** The number of days before now. */
  readonly days: number;
  readonly forge?: ForgeName;
  readonly repo?: string;
}

export interface ReviewFilter extends ReviewScope {
  readonly measure: RowMeasure;
  readonly reviewer?: string;
  readonly atLeastSeconds?: number;
  readonly belowSeconds?: number;
}

/** Review times and review load. All throw AppError `not_found` or `forbidden` for a board that the caller can't read. */
export interface ReviewInsights {
  read(caller: Caller | undefined, scope: ReviewScope): Promise<Body>;
  /** Returns a page of the samples of a measure, the longest first, and the number of all. */
  list(
    caller: Caller | undefined,
    filter: ReviewFilter & { readonly limit: number; readonly offset: number },
  ): Promise<{ rows: Row[]; total: number }>;
  /** Returns all samples of a measure as CSV with a header row. */
  exportCsv(caller: Caller | undefined, filter: ReviewFilter): Promise<string>;
}

interface ReviewInsightsOptions {
  readonly database: Database;
  /** Returns the id of the owner whose board the caller may read. Throws for any other. */
  readonly getOwnerId: (caller: UserCaller, username?: string) => Promise<string>;
  readonly getConnections: (personId: string) => Promise<readonly ForgeConnection[]>;
  readonly now?: () => number;
}

const DAY_MS = 86_400_000;

/** The most repositories and reviewers of a response. */
const MAX_LISTED = 100;

export function createReviewInsights({
  database,
  getOwnerId,
  getConnections,
  now = Date.now,
}: ReviewInsightsOptions): ReviewInsights {
  async function load(caller: Caller | undefined, scope: ReviewScope) {
    const ownerId = await getOwnerId(requireUser(caller), scope.owner);
    const connections = await getConnections(ownerId);
    const forges = new Map(connections.map(({ id, forge }) => [id, forge]));
    const to = now();
    const period = { from: to - scope.days * DAY_MS, to };
    return { ownerId, forges, period, all: await readPullRequests(database, ownerId, { forges, scope, period }) };
  }

  async function listRows(caller: Caller | undefined, filter: ReviewFilter): Promise<Sample[]> {
    const { all, period } = await load(caller, filter);
    return listSamples(all, filter.measure, period)
      .filter((sample) => matches(sample, filter))
      .sort((a, b) => (b.milliseconds ?? -1) - (a.milliseconds ?? -1) || compareRows(a, b));
  }

  return {
    async read(caller, scope) {
      const { ownerId, forges, period, all } = await load(caller, scope);
      const samples = new Map(MEASURES.map((measure) => [measure, listSamples(all, measure, period)]));
      const slow = findSlow(samples.get('first_review') ?? [], samples.get('waiting') ?? []);
      return {
        from: new Date(period.from).toISOString(),
        to: new Date(period.to).toISOString(),
        ...(await readProgress(database, ownerId, [...forges.keys()])),
        measures: Array.from(samples, ([measure, own]) => {
          return { measure, ...toDistribution(own), histogram: toHistogram(own) };
        }),
        ...(slow && { slow }),
        repositories: toRepositories(samples),
        reviewers: toReviewers(all, period),
      };
    },
    async list(caller, { limit, offset, ...filter }) {
      const rows = await listRows(caller, filter);
      return { rows: rows.slice(offset, offset + limit).map(toRow), total: rows.length };
    },
    exportCsv: async (caller, filter) => formatCsv((await listRows(caller, filter)).map(toRow)),
  };
}

interface StoredScope {
  /** The forge of each credential. */
  readonly forges: ReadonlyMap<string, ForgeName>;
  readonly scope: ReviewScope;
  readonly period: TimeSpan;
}

/** Reads the stored pull requests of people in repositories that are on the board and not ignored. */
async function readPullRequests(
  database: Database,
  ownerId: string,
  { forges, scope, period }: StoredScope,
): Promise<MeasuredPullRequest[]> {
  const connections = [...forges].filter(([, forge]) => scope.forge === undefined || forge === scope.forge);
  if (connections.length === 0) return [];
  const rows = await database
    .selectFrom('pull_request_histories as history')
    .innerJoin('forge_readings as snapshot', (join) =>
      join
        .onRef('snapshot.person_id', '=', 'history.person_id')
        .onRef('snapshot.forge', '=', 'history.forge')
        .onRef('snapshot.repository_id', '=', 'history.repository_id'),
    )
    .select(['history.forge', 'full_name', 'number', 'title', 'url', 'author', 'is_draft', 'times'])
    .where('history.person_id', '=', ownerId)
    .where(
      'history.forge',
      'in',
      connections.map(([id]) => id),
    )
    .where('author_is_bot', '=', 0)
    .where((is) => is.or([is('closed_at', 'is', null), is('closed_at', '>=', period.from)]))
    .orderBy('updated_at', 'desc')
    .execute();
  const ignored = await readIgnored(database, ownerId);
  const repo = scope.repo?.toLowerCase();
  const found = new Map<string, MeasuredPullRequest>();
  for (const { full_name, is_draft, times, ...row } of rows) {
    const forge = forges.get(row.forge);
    const name = full_name.toLowerCase();
    if (forge === undefined || (repo !== undefined && name !== repo) || ignored.has(`${forge} ${name}`)) continue;
    // Two credentials may have read the same repository.
    const key = `${forge} ${name} ${row.number}`;
    if (found.has(key)) continue;
    found.set(key, {
      ...row,
      forge,
      repo: full_name,
      isDraft: is_draft === 1,
      times: JSON.parse(times) as ReviewTimes,
    });
  }
  return [...found.values()];
}

async function readIgnored(database: Database, ownerId: string): Promise<ReadonlySet<string>> {
  const marks = database.selectFrom('repository_marks').select(['forge', 'repo']).where('person_id', '=', ownerId);
  const rows = await marks.where('ignored_prs', '=', 1).execute();
  return new Set(rows.map(({ forge, repo }) => `${forge} ${repo}`));
}

async function readProgress(
  database: Database,
  ownerId: string,
  connections: readonly string[],
): Promise<Pick<Body, 'readAt' | 'unreadRepositories'>> {
  if (connections.length === 0) return { unreadRepositories: 0 };
  const { unread, read_at } = await database
    .selectFrom('forge_readings as snapshot')
    .leftJoin('history_readings as reading', (join) =>
      join
        .onRef('reading.person_id', '=', 'snapshot.person_id')
        .onRef('reading.forge', '=', 'snapshot.forge')
        .onRef('reading.repository_id', '=', 'snapshot.repository_id'),
    )
    .select(({ fn }) => [
      fn.countAll<number>().filterWhere('reading.read_at', 'is', null).as('unread'),
      fn.max<number | null>('reading.read_at').as('read_at'),
    ])
    .where('snapshot.person_id', '=', ownerId)
    .where('snapshot.yours_only', '=', 0)
    .where('snapshot.forge', 'in', connections)
    .executeTakeFirstOrThrow();
  return { unreadRepositories: unread, ...(read_at !== null && { readAt: new Date(read_at).toISOString() }) };
}

const isLongerThan = (seconds: number, { milliseconds = -1 }: Sample): boolean =>
  milliseconds >= 0 && roundToSeconds(milliseconds) >= seconds;

function findSlow(reviewed: readonly Sample[], waiting: readonly Sample[]): Body['slow'] {
  const { p75Seconds: atLeastSeconds } = toDistribution(reviewed);
  if (atLeastSeconds === undefined) return undefined;
  return { atLeastSeconds, count: waiting.filter((one) => isLongerThan(atLeastSeconds, one)).length };
}

function toRepositories(samples: ReadonlyMap<string, readonly Sample[]>): Body['repositories'] {
  const of = (measure: string) =>
    groupBy(samples.get(measure) ?? [], ({ pullRequest }) => toRepositoryKey(pullRequest));
  const [reviewed, merged, waiting] = [of('first_review'), of('cycle'), of('waiting')];
  const keys = new Set([...reviewed.keys(), ...merged.keys(), ...waiting.keys()]);
  const all = Array.from(keys, (key) => {
    const [own, ...more] = [reviewed.get(key) ?? [], merged.get(key) ?? [], waiting.get(key) ?? []];
    const { forge, repo } = [own, ...more].flat()[0]?.pullRequest ?? { forge: 'github' as const, repo: key };
    return {
      ...{ forge, repo },
      firstReview: toDistribution(own),
      cycle: toDistribution(merged.get(key) ?? []),
      waiting: waiting.get(key)?.length ?? 0,
    };
  });
  const weigh = ({ firstReview, cycle, waiting: open }: (typeof all)[number]) =>
    firstReview.samples + cycle.samples + open;
  return all.sort((a, b) => weigh(b) - weigh(a) || a.repo.localeCompare(b.repo)).slice(0, MAX_LISTED);
}

const toRepositoryKey = ({ forge, repo }: MeasuredPullRequest): string => `${forge} ${repo.toLowerCase()}`;

function toReviewers(all: readonly MeasuredPullRequest[], period: TimeSpan): Body['reviewers'] {
  const toKey = ({ pullRequest, reviewer = '' }: Sample): string => `${pullRequest.forge} ${reviewer.toLowerCase()}`;
  const of = (measure: RowMeasure) => groupBy(listSamples(all, measure, period), toKey);
  const [requested, given, pending] = [of('requested'), of('given'), of('pending')];
  const keys = new Set([...requested.keys(), ...given.keys(), ...pending.keys()]);
  const people = [...keys].flatMap((key) => {
    const [first] = [requested, given, pending].flatMap((samples) => samples.get(key) ?? []);
    if (first === undefined) return [];
    return {
      forge: first.pullRequest.forge,
      login: first.reviewer ?? '',
      requested: requested.get(key)?.length ?? 0,
      given: given.get(key)?.length ?? 0,
      pending: pending.get(key)?.length ?? 0,
      wait: toDistribution(given.get(key) ?? []),
    };
  });
  return people
    .sort((a, b) => b.pending + b.given - a.pending - a.given || a.login.localeCompare(b.login))
    .slice(0, MAX_LISTED);
}

function groupBy<T>(items: readonly T[], toKey: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(toKey(item));
    if (group === undefined) groups.set(toKey(item), [item]);
    else group.push(item);
  }
  return groups;
}

function matches(sample: Sample, { reviewer, atLeastSeconds = 0, belowSeconds = Infinity }: ReviewFilter): boolean {
  const isOfReviewer = reviewer === undefined || sample.reviewer?.toLowerCase() === reviewer.toLowerCase();
  if (sample.milliseconds === undefined) return isOfReviewer && atLeastSeconds === 0 && belowSeconds === Infinity;
  return isOfReviewer && isLongerThan(atLeastSeconds, sample) && !isLongerThan(belowSeconds, sample);
}

const compareRows = ({ pullRequest: a }: Sample, { pullRequest: b }: Sample): number =>
  a.repo.localeCompare(b.repo) || a.number - b.number;

function toRow({ pullRequest, reviewer, milliseconds }: Sample): Row {
  const { forge, repo, number, title, url, author, times } = pullRequest;
  const { openedAt, readyAt, reviewedAt: firstReviewAt, approvedAt, mergedAt, closedAt } = times;
  const known = Object.entries({ readyAt, firstReviewAt, approvedAt, mergedAt, closedAt });
  return {
    ...{ forge, repo, number, title, url, author },
    state: mergedAt !== undefined ? 'merged' : closedAt === undefined ? 'open' : 'closed',
    ...(reviewer !== undefined && { reviewer }),
    ...(milliseconds !== undefined && { seconds: roundToSeconds(milliseconds) }),
    openedAt: new Date(openedAt).toISOString(),
    ...Object.fromEntries(
      known.flatMap(([name, at]) => (at === undefined ? [] : [[name, new Date(at).toISOString()]])),
    ),
  };
}

const TIMES = ['openedAt', 'readyAt', 'firstReviewAt', 'approvedAt', 'mergedAt', 'closedAt'];
const COLUMNS = ['forge', 'repo', 'number', 'title', 'author', 'state', 'reviewer', 'seconds', ...TIMES, 'url'];

async function formatCsv(rows: readonly Row[]): Promise<string> {
  const { stringify } = await import('../csv.js');
  return stringify([...rows], {
    header: true,
    columns: COLUMNS,
    record_delimiter: 'windows',
    // Titles come from other people.
    escape_formulas: true,
    quoted_match: /[\r\n]/,
  });
}
