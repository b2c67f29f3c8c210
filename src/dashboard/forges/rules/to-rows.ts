import type { ForgeName, Issue, IssueFacts, PullRequest, PullRequestFacts, RepositoryReading } from '../facts.js';
import { listAllowedActions } from './allowed-actions.js';
import { findBot, isHousekeeping, kindOf } from './bots.js';
import { findSection } from './sections.js';
import { findStacks } from './stacks.js';
import type { StackPlace } from './stacks.js';

/** The user whose point of view a board has, at one forge. */
export interface Reader {
  readonly forge: ForgeName;
  /** Empty if the user has not entered one. */
  readonly username: string;
  readonly renovateAuthors: readonly string[];
}

/** Converts the snapshot of one repository to the rows of a board. */
export function toRows(
  { pullRequests, issues }: Pick<RepositoryReading, 'issues' | 'pullRequests'>,
  reader: Reader,
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
  facts: PullRequestFacts,
  { place, reader }: { readonly place: StackPlace; readonly reader: Reader },
): PullRequest {
  const { forge, renovateAuthors } = reader;
  const bot = findBot(facts.author, renovateAuthors);
  const row = {
    ...facts,
    ...place,
    forge,
    kind: kindOf(facts, bot),
    readyToMerge: facts.mergeStatus === 'mergeable' && facts.ci === 'success' && !facts.draft,
    needsReview: needsReview(facts),
    reviewRequestedFromMe: isReviewRequested(facts, reader.username),
    allowedActions: listAllowedActions({ ...facts, stackedOn: place.stackedOn, forge, bot }),
  };
  return { ...row, section: findSection(row, reader.username) };
}

/** Reports whether a review is required or requested. An unknown review state counts as neither. */
function needsReview({ draft, review }: PullRequestFacts): boolean {
  if (draft || review === undefined) return false;
  const { decision, requestedReviewers } = review;
  return decision === 'review_required' || (decision === 'none' && requestedReviewers > 0);
}

function isReviewRequested({ draft, requestedReviewerLogins }: PullRequestFacts, username: string): boolean {
  if (draft || username === '') return false;
  return requestedReviewerLogins.some((login) => login.toLowerCase() === username.toLowerCase());
}

function toIssue(facts: IssueFacts, { forge, renovateAuthors }: Reader): Issue {
  return { ...facts, forge, housekeeping: isHousekeeping(facts, findBot(facts.author, renovateAuthors)) };
}
