import type { ForgeName, Issue, ForgeIssue, PullRequest, ForgePullRequest, RepositorySnapshot } from '../model.js';
import { listAllowedActions } from './allowed-actions.js';
import { findBot, isHousekeeping, toPullRequestKind } from './bots.js';
import { findSection } from './sections.js';
import { findStacks } from './stacks.js';
import type { StackPosition } from './stacks.js';

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
  const row = {
    ...facts,
    ...place,
    forge,
    kind: toPullRequestKind(facts, bot),
    readyToMerge: facts.mergeStatus === 'mergeable' && facts.ci === 'success' && !facts.draft,
    needsReview: needsReview(facts),
    reviewRequestedFromMe: isReviewRequested(facts, reader.username),
    allowedActions: listAllowedActions({ ...facts, stackedOn: place.stackedOn, forge, bot }),
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
  if (draft || username === '') return false;
  return requestedReviewerLogins.some((login) => login.toLowerCase() === username.toLowerCase());
}

function toIssue(facts: ForgeIssue, { forge, renovateAuthors }: BoardViewer): Issue {
  return { ...facts, forge, housekeeping: isHousekeeping(facts, findBot(facts.author, renovateAuthors)) };
}
