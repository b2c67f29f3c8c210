/**
 * Makes the data of forges valid against the contract. A forge, or a server that claims to be one, may send any value.
 * Invalid values are removed or replaced by neutral ones, so that the rest of the row can be shown.
 */
import { toForgeError } from './forge-error.js';
import type {
  Check,
  Forge,
  ForgeIssue,
  ForgePullRequest,
  ForgeRepository,
  ForgeSnapshot,
  PullRequestDetails,
  RepositorySnapshot,
} from './forge.js';
import type { PullRequestHistory, ReviewEvent } from './history.js';

/**
 * Wraps a forge so that it throws only `ForgeError` and returns only data that the contract allows.
 *
 * @param webUrl The URL of the forge's pages, which replaces unusable links.
 */
export function withForgeErrors(forge: Forge, webUrl: string): Forge {
  const { readReplies, readInvolved, readHistory, findOutdated } = forge;
  return {
    ...forge,
    get hidden() {
      return forge.hidden;
    },
    get expiresAt() {
      return forge.expiresAt;
    },
    ...(readReplies && { readReplies: (comments) => readReplies(comments).catch(rethrow) }),
    ...(findOutdated && { findOutdated: (known) => findOutdated(known).catch(rethrow) }),
    ...(readInvolved && {
      readInvolved: async (listed, options) => {
        const { repositories, truncated } = await readInvolved(listed, options).catch(rethrow);
        const sound = repositories.map((one) => sanitizeRepositorySnapshot(one, webUrl));
        return { repositories: sound.filter((one) => one !== undefined), truncated };
      },
    }),
    ...(readHistory && {
      async readHistory(repositories, save) {
        let unsaved: { readonly error: unknown } | undefined;
        const saveSound: typeof save = async (read) => {
          const sound = read.map(({ id, pullRequests }) => ({
            id,
            pullRequests: pullRequests?.flatMap((one) => toSoundHistory(one, webUrl)),
          }));
          await save(sound).catch((error: unknown) => {
            unsaved = { error };
            throw error;
          });
        };
        await readHistory(repositories, saveSound).catch((error: unknown) => {
          // Not an error of the forge.
          throw unsaved ? unsaved.error : toForgeError(error);
        });
      },
    }),
    discover: () => discover(forge, webUrl).catch(rethrow),
    inspect: () => forge.inspect().catch(rethrow),
    read: async (repositories) => sanitizeSnapshot(await forge.read(repositories).catch(rethrow), webUrl),
    async readRepository(fullName) {
      const reading = await forge.readRepository(fullName).catch(rethrow);
      return reading && sanitizeRepositorySnapshot(reading, webUrl);
    },
    readState: (target) => forge.readState(target).catch(rethrow),
    checks: async (target) => (await forge.checks(target).catch(rethrow)).map(sanitizeCheck),
    details: async (target) => sanitizeDetails(await forge.details(target).catch(rethrow)),
    act: (target, action) => forge.act(target, action).catch(rethrow),
    ensureWebhook: (fullName, hook) => forge.ensureWebhook(fullName, hook).catch(rethrow),
  };
}

async function discover(forge: Forge, webUrl: string): ReturnType<Forge['discover']> {
  const found = await forge.discover();
  return found.map((one) => sanitizeRepository(one, webUrl)).filter((one) => one !== undefined);
}

function rethrow(error: unknown): never {
  throw toForgeError(error);
}

/** No forge allows longer titles. */
const MAX_TITLE = 1_024;

/** No forge allows longer names of accounts, labels, branches or checks. */
const MAX_NAME = 255;

/** Longer URLs are not supported by all browsers and proxies. */
const MAX_URL = 2_048;

/** Above the forges' own limits for labels and reviewers. */
const MAX_LISTED = 100;

/** GitHub's default label colour. */
const NEUTRAL_COLOR = 'ededed';

const EPOCH = '1970-01-01T00:00:00Z';

const MAX_INT32 = 2 ** 31 - 1;

/** Sanitizes the repositories of a snapshot. Those without a valid id and name are moved to `unread`. */
function sanitizeSnapshot({ repositories, unread, ...reading }: ForgeSnapshot, webUrl: string): ForgeSnapshot {
  const sound = repositories.map((one) => sanitizeRepositorySnapshot(one, webUrl));
  const odd = repositories.filter((_one, index) => sound[index] === undefined).map(({ repository }) => repository.id);
  return { ...reading, repositories: sound.filter((one) => one !== undefined), unread: [...unread, ...odd] };
}

/** Sanitizes a repository snapshot. @param webUrl The URL of the forge's pages. */
function sanitizeRepositorySnapshot(reading: RepositorySnapshot, webUrl: string): RepositorySnapshot | undefined {
  const repository = sanitizeRepository(reading.repository, webUrl);
  if (repository === undefined) return undefined;
  const { pullRequests, issues, incomplete = 0, yoursOnly } = reading;
  const sound = pullRequests.flatMap((one) => (isNumber(one.number) ? [toSoundPullRequest(one, repository)] : []));
  const missing = incomplete + pullRequests.length - sound.length;
  return {
    repository,
    ...(yoursOnly && { yoursOnly }),
    pullRequests: sound,
    issues: issues.flatMap((one) => (isNumber(one.number) ? [toSoundIssue(one, repository)] : [])),
    ...(missing > 0 && { incomplete: missing }),
  };
}

/** Sanitizes a repository. @returns `undefined` without a valid id and name, which are its keys everywhere else. */
function sanitizeRepository(repository: ForgeRepository, webUrl: string): ForgeRepository | undefined {
  const { id, fullName, url, canManageWebhooks, revision } = repository;
  if (!isPlainText(id) || !isPlainText(fullName) || !REPOSITORY_NAME.test(fullName)) return undefined;
  const page = `${webUrl}/${fullName.split('/').map(encodeURIComponent).join('/')}`;
  return {
    id,
    fullName,
    url: findSafeLink(url) ?? findSafeLink(page) ?? new URL(webUrl).origin,
    canManageWebhooks: isTrue(canManageWebhooks),
    revision,
  };
}

function toSoundIssue(facts: ForgeIssue, repository: ForgeRepository): ForgeIssue {
  const { number, title, url, author, labels, createdAt, updatedAt } = facts;
  const [created, updated] = [toTime(createdAt), toTime(updatedAt)];
  return {
    repo: repository.fullName,
    number,
    title: toText(title, MAX_TITLE) || `#${number}`,
    url: findSafeLink(url) ?? toFragment(repository.url, number),
    author: toText(author, MAX_NAME) || 'ghost',
    labels: listOf(labels).flatMap(toSoundLabel),
    createdAt: created ?? updated ?? EPOCH,
    updatedAt: updated ?? created ?? EPOCH,
  };
}

const CI = new Set<unknown>(['success', 'failure', 'pending', 'none'] satisfies ForgePullRequest['ci'][]);

const MERGE_STATUS = new Set<unknown>([
  ...(['mergeable', 'conflicting', 'blocked', 'unstable', 'unknown'] satisfies ForgePullRequest['mergeStatus'][]),
]);

function toSoundPullRequest(facts: ForgePullRequest, repository: ForgeRepository): ForgePullRequest {
  const { ci, ciKnown, mergeStatus, autoMergeEnabled, autoMergeAllowed, review, mergeQueue } = facts;
  const { authorIsBot, mergeQueueRequired, reviewRequestedFromMyTeam, foundBy, readOnly } = facts;
  const isCiKnown = CI.has(ci) && ciKnown !== false;
  return {
    ...toSoundIssue(facts, repository),
    draft: isTrue(facts.draft),
    ...(isCiKnown ? { ci } : { ci: 'none', ciKnown: false }),
    mergeStatus: MERGE_STATUS.has(mergeStatus) ? mergeStatus : 'unknown',
    behind: isTrue(facts.behind),
    headSha: toText(facts.headSha, MAX_NAME),
    baseBranch: toText(facts.baseBranch, MAX_NAME),
    headBranch: toText(facts.headBranch, MAX_NAME),
    crossRepository: isTrue(facts.crossRepository),
    requestedReviewerLogins: listOf(facts.requestedReviewerLogins).filter((login) => isName(login)),
    empty: isTrue(facts.empty),
    ...(Number.isSafeInteger(facts.additions) && { additions: toCount(facts.additions) }),
    ...(Number.isSafeInteger(facts.deletions) && { deletions: toCount(facts.deletions) }),
    ...(typeof autoMergeEnabled === 'boolean' && { autoMergeEnabled }),
    ...(typeof autoMergeAllowed === 'boolean' && { autoMergeAllowed }),
    ...(typeof authorIsBot === 'boolean' && { authorIsBot }),
    ...(typeof reviewRequestedFromMyTeam === 'boolean' && { reviewRequestedFromMyTeam }),
    ...(typeof mergeQueueRequired === 'boolean' && { mergeQueueRequired }),
    ...(mergeQueue && { mergeQueue: toSoundPlace(mergeQueue) }),
    ...(review && { review: toSoundReview(review) }),
    ...(foundBy && { foundBy }),
    ...(readOnly === true && { readOnly }),
  };
}

type MergeQueuePlace = NonNullable<ForgePullRequest['mergeQueue']>;

const QUEUE_STATES = new Set<unknown>([
  ...(['queued', 'awaiting_checks', 'mergeable', 'unmergeable', 'locked'] satisfies MergeQueuePlace['state'][]),
]);

function toSoundPlace({ position, state }: MergeQueuePlace): MergeQueuePlace {
  return { position: Math.max(toCount(position), 1), state: QUEUE_STATES.has(state) ? state : 'queued' };
}

type Review = NonNullable<ForgePullRequest['review']>;

const DECISIONS = new Set<unknown>([
  ...(['approved', 'changes_requested', 'review_required', 'none'] satisfies Review['decision'][]),
]);

function toSoundReview({ decision, approvals, requestedReviewers }: Review): Review {
  return {
    decision: DECISIONS.has(decision) ? decision : 'none',
    approvals: toCount(approvals),
    requestedReviewers: toCount(requestedReviewers),
  };
}

const CHECK_STATES = new Set<unknown>([
  ...(['queued', 'running', 'success', 'failure', 'cancelled', 'skipped', 'timed_out'] satisfies Check['state'][]),
]);

function sanitizeCheck({ name, url, state, required, durationSeconds, failedStep, excerpt }: Check): Check {
  return {
    name: toText(name, MAX_NAME),
    url: findSafeLink(url) ?? '',
    state: CHECK_STATES.has(state) ? state : 'failure',
    ...(typeof required === 'boolean' && { required }),
    ...(Number.isSafeInteger(durationSeconds) && { durationSeconds: toCount(durationSeconds) }),
    ...(isName(failedStep) && { failedStep }),
    // It is the end of a log, and may begin with half of a character.
    ...(typeof excerpt === 'string' && { excerpt: excerpt.replace(/^[\uDC00-\uDFFF]/u, '') }),
  };
}

/** The longest excerpt of a comment. */
const MAX_COMMENT = 500;

const REVIEW_STATES = new Set<unknown>([
  ...(['approved', 'changes_requested', 'commented', 'dismissed'] satisfies SubmittedReview['state'][]),
]);

type SubmittedReview = PullRequestDetails['reviews'][number];
type Comment = PullRequestDetails['comments'][number];

function sanitizeDetails(details: PullRequestDetails): PullRequestDetails {
  const { reviews, threads, comments, additions, deletions, changedFiles, commits } = details;
  const { requiredApprovals, codeOwners, assignees, milestone } = details;
  const numbers = { additions, deletions, changedFiles, commits };
  const known = Object.entries(numbers).filter(([, count]) => Number.isSafeInteger(count));
  return {
    ...Object.fromEntries(known.map(([name, count]) => [name, toCount(count)])),
    ...(isNumber(requiredApprovals) && { requiredApprovals: toCount(requiredApprovals) }),
    ...(codeOwners && { codeOwners: listOf(codeOwners).filter((name) => isName(name)) }),
    ...(assignees && { assignees: listOf(assignees).filter((name) => isName(name)) }),
    ...(isName(milestone) && { milestone }),
    reviews: reviews.slice(-MAX_LISTED).flatMap(toSoundSubmittedReview),
    threads: threads.slice(-MAX_LISTED).map(toSoundComment),
    comments: comments.slice(-MAX_LISTED).map(toSoundComment),
  };
}

function toSoundSubmittedReview({ author, state, submittedAt }: SubmittedReview): readonly SubmittedReview[] {
  if (!REVIEW_STATES.has(state)) return [];
  const time = toTime(submittedAt);
  return [{ author: toText(author, MAX_NAME) || 'ghost', state, ...(time !== undefined && { submittedAt: time }) }];
}

function toSoundComment({ author, excerpt, url, path, line, createdAt }: Comment): Comment {
  return {
    author: toText(author, MAX_NAME) || 'ghost',
    excerpt: toText(excerpt, MAX_COMMENT),
    url: findSafeLink(url) ?? '',
    ...(typeof path === 'string' && { path: toText(path, MAX_TITLE) }),
    ...(isNumber(line) && { line: Number(line) }),
    createdAt: toTime(createdAt) ?? EPOCH,
  };
}

function toSoundLabel(label: unknown): ForgePullRequest['labels'] {
  const { name, color } = (label ?? {}) as { readonly name?: unknown; readonly color?: unknown };
  if (!isName(name)) return [];
  const [, digits] = /^#?([0-9A-Fa-f]{6})$/.exec(typeof color === 'string' ? color : '') ?? [];
  return [{ name, color: digits ?? NEUTRAL_COLOR }];
}

/** HTTP URLs by RFC 3986, without credentials. */
const HTTP_URL =
  /^https?:\/\/(\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=-]+)(:\d+)?([/?#]([\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)*$/i;

/** Normalizes a link and escapes invalid characters. @returns `undefined` for anything but an http or https URL. */
export function findSafeLink(url: unknown): string | undefined {
  if (typeof url !== 'string' || url.length > MAX_URL || !URL.canParse(url)) return undefined;
  return [url, new URL(url).href].find((text) => HTTP_URL.test(text));
}

/** Returns a unique link for a row without a usable one: the repository page with the number as fragment. */
function toFragment(page: string, number: number): string {
  const url = new URL(page);
  url.hash = String(number);
  return url.href;
}

/** The most steps of a review that are stored of a pull request. */
const MAX_EVENTS = 500;

const EVENT_KINDS = new Set<unknown>([
  ...(['approved', 'drafted', 'ready', 'requested', 'request_removed', 'reviewed'] satisfies ReviewEvent['kind'][]),
]);

/** Sanitizes a history. Without a number and the times that measures need, it is omitted. */
function toSoundHistory(history: PullRequestHistory, webUrl: string): readonly PullRequestHistory[] {
  const { number, title, url, author, authorIsBot, isDraft, mergedAt, closedAt, events } = history;
  const [created, updated] = [toTime(history.createdAt), toTime(history.updatedAt)];
  if (!isNumber(number) || created === undefined || updated === undefined) return [];
  const [merged, closed] = [toTime(mergedAt), toTime(closedAt)];
  return [
    {
      number,
      title: toText(title, MAX_TITLE) || `#${number}`,
      url: findSafeLink(url) ?? new URL(webUrl).origin,
      author: toText(author, MAX_NAME) || 'ghost',
      authorIsBot: isTrue(authorIsBot),
      isDraft: isTrue(isDraft),
      createdAt: created,
      updatedAt: updated,
      ...(merged !== undefined && { mergedAt: merged }),
      ...((closed ?? merged) !== undefined && { closedAt: closed ?? merged }),
      events: (isList(events) ? events.slice(0, MAX_EVENTS) : []).flatMap(toSoundEvent),
    },
  ];
}

function toSoundEvent({ kind, at, login, isBot }: ReviewEvent): readonly ReviewEvent[] {
  const time = toTime(at);
  if (!EVENT_KINDS.has(kind) || time === undefined) return [];
  return [{ kind, at: time, ...(isName(login) && { login, isBot: isTrue(isBot) }) }];
}

/** Normalizes a time to RFC 3339 in UTC. */
function toTime(time: unknown): string | undefined {
  const date = new Date(typeof time === 'string' ? time : NaN);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) return undefined;
  const iso = date.toISOString();
  const isIso = /^[\d-]+T[\d:]+(\.\d+)?Z$/.test(String(time)) && iso.slice(0, 19) === String(time).slice(0, 19);
  return isIso ? String(time) : iso;
}

/** Owner and name without invisible characters. @see RepoName in the contract */
const REPOSITORY_NAME = /^[^/\s\p{C}]+(\/[^/\s\p{C}]+)+$/u;

const isPlainText = (text: unknown): text is string => isName(text) && !/\p{C}/u.test(text);

const isName = (text: unknown): text is string =>
  typeof text === 'string' && text.length > 0 && text.length <= MAX_NAME;

const isNumber = (number: unknown): boolean =>
  Number.isInteger(number) && Number(number) >= 1 && Number(number) <= MAX_INT32;

const isTrue = (flag: unknown): boolean => flag === true;

/** Excerpts of readers may already end with half of a character. */
const toText = (text: unknown, max: number): string =>
  typeof text === 'string' ? text.slice(0, max).replace(/[\uD800-\uDBFF]$/u, '') : '';

const toCount = (count: unknown): number => (Number.isSafeInteger(count) ? Math.max(Number(count), 0) : 0);

/** Returns an empty list for anything else: the types of responses are not checked at run time. */
const listOf = <T>(list: readonly T[]): readonly T[] => (isList(list) ? list.slice(0, MAX_LISTED) : []);

const isList = (list: unknown): boolean => Array.isArray(list);
