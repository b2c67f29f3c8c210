import { type Bot, listAllowedActions } from './forge-action.js';
import type { ForgeIssue, ForgeName, ForgePullRequest, Issue, PullRequest, RepositorySnapshot } from './forge.js';
import { findSection, isSame } from './sections.js';

/** The user whose point of view a board has, at one forge. */
export interface BoardViewer {
  readonly forge: ForgeName;
  /** Empty if the user has not entered one. */
  readonly username: string;
  readonly renovateAuthors: readonly string[];
}

/** Converts the snapshot of one repository to the rows of a board. */
export function toBoardRows(
  { pullRequests, issues }: Pick<RepositorySnapshot, 'issues' | 'pullRequests'>,
  reader: BoardViewer,
): { pullRequests: PullRequest[]; issues: Issue[] } {
  const places = findStacks(pullRequests);
  return {
    pullRequests: pullRequests.flatMap((facts) => {
      const place = places.get(facts.number);
      return place === undefined ? [] : toPullRequest(facts, { place, reader });
    }),
    issues: issues.map((facts) => toIssue(facts, reader)),
  };
}

function toPullRequest(
  facts: ForgePullRequest,
  { place, reader }: { readonly place: StackPosition; readonly reader: BoardViewer },
): PullRequest {
  const { forge, renovateAuthors } = reader;
  const bot = findBot(facts.author, renovateAuthors);
  const isOwn = isSame(facts.author, reader.username);
  const allowedActions = listAllowedActions({ ...facts, stackedOn: place.stackedOn, forge, bot, isOwn });
  const reviewRequestedFromMe = isReviewRequested(facts, reader.username);
  const isBlocked = allowedActions.some(({ action, blocked }) => action === 'merge' && blocked !== undefined);
  const row = {
    ...facts,
    ...place,
    forge,
    kind: toPullRequestKind(facts, bot),
    readyToMerge: facts.mergeStatus === 'mergeable' && facts.ci === 'success' && !facts.draft && !isBlocked,
    needsReview: needsReview(facts),
    reviewRequestedFromMe,
    ...(facts.reviewRequestedFromMyTeam !== undefined && {
      reviewRequestedFromMyTeam: facts.reviewRequestedFromMyTeam && !reviewRequestedFromMe,
    }),
    allowedActions,
  };
  return { ...row, section: findSection(row, reader.username) };
}

/** Reports whether a review is required or requested. An unknown review state counts as neither. */
function needsReview({ draft, review }: ForgePullRequest): boolean {
  if (draft || review === undefined) return false;
  const { decision, requestedReviewers } = review;
  return decision === 'review_required' || (decision === 'none' && requestedReviewers > 0);
}

function isReviewRequested({ draft, requestedReviewerLogins }: ForgePullRequest, username: string): boolean {
  return !draft && requestedReviewerLogins.some((login) => isSame(login, username));
}

function toIssue(facts: ForgeIssue, { forge, renovateAuthors }: BoardViewer): Issue {
  return { ...facts, forge, housekeeping: isHousekeeping(facts, findBot(facts.author, renovateAuthors)) };
}

/**
 * Finds the dependency bot behind a login, with or without the suffix `[bot]`.
 *
 * @param renovateAuthors Further accounts that run Renovate, from the user's settings.
 */
export function findBot(author: string, renovateAuthors: readonly string[]): Bot | undefined {
  const login = author.toLowerCase();
  const name = login.replace(/\[bot\]$/, '');
  if (name === 'dependabot' || name === 'renovate') return name;
  return renovateAuthors.some((listed) => listed.toLowerCase() === login) ? 'renovate' : undefined;
}

/** Returns the kind of a pull request. A release label takes precedence over the author. */
function toPullRequestKind({ labels }: Pick<PullRequest, 'labels'>, bot: Bot | undefined): PullRequest['kind'] {
  if (labels.some(({ name }) => name.startsWith('autorelease:'))) return 'release';
  return bot === undefined ? 'regular' : 'dependency';
}

/** Reports whether an issue is Renovate's permanent list of updates, which is never closed. */
function isHousekeeping(issue: { readonly title: string }, bot: Bot | undefined): boolean {
  return bot === 'renovate' && issue.title.trim().toLowerCase() === 'dependency dashboard';
}

type Stacked = Pick<PullRequest, 'baseBranch' | 'crossRepository' | 'headBranch' | 'number' | 'url'>;
type StackPosition = Pick<PullRequest, 'stack' | 'stackChildren' | 'stackedOn'>;

const ALONE: StackPosition = { stack: null, stackedOn: null, stackChildren: [] };

/**
 * Finds the stacks among the open pull requests of one repository. A pull request is stacked on the one whose head
 * branch is its base branch. Positions count from the lowest, and `size` counts all pull requests above the same lowest
 * one, including it. Pull requests from forks are never stacked, as their branches are in another repository. Cycles
 * are not stacks.
 */
export function findStacks(pullRequests: readonly Stacked[]): Map<number, StackPosition> {
  const parents = findParents(pullRequests);
  const chains = new Map(pullRequests.map((one) => [one.number, chainOf(one, parents)]));
  const stacked = pullRequests.filter(({ number }) => chains.get(number) !== undefined);
  const rootOf = ({ number }: Stacked): number => chains.get(number)?.at(-1)?.number ?? number;
  const byRoot = groupBy(stacked, rootOf);
  const byParent = groupBy(stacked, ({ number }) => parents.get(number)?.number);
  return new Map(
    pullRequests.map((one) => {
      const chain = chains.get(one.number);
      const size = byRoot.get(rootOf(one))?.length ?? 0;
      if (chain === undefined || size < 2) return [one.number, ALONE];
      return [one.number, toPlace(chain, { size, children: byParent.get(one.number) ?? [] })];
    }),
  );
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function toPlace(
  [, parent, ...below]: readonly Stacked[],
  { size, children }: { readonly size: number; readonly children: readonly Stacked[] },
): StackPosition {
  return {
    stack: { position: parent === undefined ? 1 : below.length + 2, size },
    stackedOn: parent === undefined ? null : { number: parent.number, url: parent.url },
    stackChildren: children.map(({ number }) => number).sort((a, b) => a - b),
  };
}

/** Maps each pull request to its parent. If several have the same head branch, the lowest number is the parent. */
function findParents(pullRequests: readonly Stacked[]): Map<number, Stacked> {
  const own = pullRequests.filter(({ crossRepository }) => !crossRepository);
  const byHead = new Map<string, Stacked>();
  for (const one of own.toSorted((a, b) => b.number - a.number)) {
    // The name is empty if the forge did not report the branch.
    if (one.headBranch !== '') byHead.set(one.headBranch, one);
  }
  const found = new Map<number, Stacked>();
  for (const { number, baseBranch } of own) {
    const parent = byHead.get(baseBranch);
    if (parent !== undefined) found.set(number, parent);
  }
  return found;
}

/** Returns a pull request and those below it, down to the lowest, or `undefined` for a cycle. */
function chainOf(start: Stacked, parents: ReadonlyMap<number, Stacked>): readonly Stacked[] | undefined {
  const chain = [start];
  for (let next = parents.get(start.number); next !== undefined; next = parents.get(next.number)) {
    if (chain.includes(next)) return undefined;
    chain.push(next);
  }
  return chain;
}
