import { undefinedIfNotFound } from '../forge-error.js';
import {
  isBotName,
  MAX_HISTORY,
  type PullRequestHistory,
  type ReadHistory,
  readHistoriesInTurn,
  type ReviewEvent,
} from '../history.js';
import type { RestClient } from '../http/rest.js';
import { mapValid, toRepositoryPath } from '../read-repositories.js';
import { isDraft, isDraftTitle, type PullRequestNode, type ReviewNode, type TimelineNode } from './parse.js';

/** A page. Each pull request costs two more requests, and a forge of this kind has no API quota. */
const PAGE_SIZE = 50;

/** The most entries of a timeline, and reviews, that are read of a pull request. */
const MAX_EVENTS = 200;

export function createHistoryReader(rest: RestClient): ReadHistory {
  async function listChanged(path: string, since: number): Promise<PullRequestNode[]> {
    const found: PullRequestNode[] = [];
    for (let page = 1; found.length < MAX_HISTORY; page += 1) {
      const nodes = (await rest.get(
        `${path}/pulls?state=all&sort=recentupdate&limit=${PAGE_SIZE}&page=${page}`,
      )) as readonly PullRequestNode[];
      const changed = nodes.filter(({ updated_at }) => Date.parse(updated_at) > since);
      found.push(...changed);
      // The forge may have a smaller limit for pages.
      if (changed.length < nodes.length || nodes.length === 0) break;
    }
    return found.slice(0, MAX_HISTORY);
  }

  async function readOne(path: string, node: PullRequestNode): Promise<PullRequestHistory> {
    const { number } = node;
    const [reviews, timeline] = await Promise.all([
      rest.list<ReviewNode>(`${path}/pulls/${number}/reviews?limit=50`, MAX_EVENTS),
      rest.list<TimelineNode>(`${path}/issues/${number}/timeline?limit=50`, MAX_EVENTS).catch(undefinedIfNotFound),
    ]);
    return toHistory(node, [...reviews.flatMap(toReview), ...(timeline ?? []).flatMap(toEvent)]);
  }

  return readHistoriesInTurn(async ({ fullName, since }) => {
    const path = toRepositoryPath(fullName);
    const nodes = (await listChanged(path, since).catch(undefinedIfNotFound)) ?? [];
    const { mapped } = await mapValid(nodes, (node) => readOne(path, node));
    return mapped;
  });
}

function toHistory(node: PullRequestNode, events: readonly ReviewEvent[]): PullRequestHistory {
  const { number, title, html_url: url, user, created_at, updated_at, merged_at, closed_at, state } = node;
  const closedAt = merged_at ?? closed_at ?? (state === 'closed' ? updated_at : undefined);
  const author = user?.login ?? 'ghost';
  return {
    ...{ number, title, url, author },
    authorIsBot: isBotName(author),
    isDraft: isDraft(node),
    createdAt: created_at,
    updatedAt: updated_at,
    ...(typeof merged_at === 'string' && { mergedAt: merged_at }),
    ...(closedAt !== undefined && { closedAt }),
    events,
  };
}

/** Converts a submitted review. Requests for a review are in the same list, without the time of the request. */
function toReview({ user, state, submitted_at }: ReviewNode): ReviewEvent[] {
  if (submitted_at === undefined || !/^(APPROVED|COMMENT|REQUEST_CHANGES)$/.test(state)) return [];
  const login = user?.login ?? 'ghost';
  return [{ kind: state === 'APPROVED' ? 'approved' : 'reviewed', at: submitted_at, login, isBot: isBotName(login) }];
}

/** Drafts are pull requests with a certain title, so a change of the title ends a draft. */
function toEvent(node: TimelineNode): ReviewEvent[] {
  const { type, created_at: at, assignee, removed_assignee } = node;
  if (type === 'review_request' && assignee) {
    const { login } = assignee;
    return [{ kind: removed_assignee === true ? 'request_removed' : 'requested', at, login, isBot: isBotName(login) }];
  }
  if (type !== 'change_title') return [];
  const [before, after] = [isDraftTitle(node.old_title ?? ''), isDraftTitle(node.new_title ?? '')];
  return before === after ? [] : [{ kind: before ? 'ready' : 'drafted', at }];
}
