import {
  type HistorySnapshot,
  type PullRequestHistory,
  readChangedSince,
  type ReadHistory,
  type ReviewEvent,
} from '../history.js';
import { type ConnectionPage, FieldError, withoutNulls } from '../http/graphql-pages.js';
import type { GraphqlQuery } from './access.js';
import { READ_HISTORIES } from './queries.js';
import { type BatchReader, isTimeout } from './requests.js';

/**
 * Pull requests per page. Between two reads of a repository, few change. A page of 20 repositories has 221 connections,
 * which cost 2 points, and a further page of one repository 51, which cost 1 point.
 */
const FIRST_PAGE = 10;
const NEXT_PAGE = 50;

interface Actor {
  readonly __typename: string;
  readonly login?: string;
}

interface TimelineNode {
  readonly __typename: string;
  readonly createdAt?: string;
  readonly state?: string;
  readonly submittedAt?: string | null;
  readonly author?: Actor | null;
  readonly requestedReviewer?: Actor | null;
}

interface HistoryNode {
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly isDraft: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly mergedAt: string | null;
  readonly closedAt: string | null;
  readonly author: Actor | null;
  readonly timelineItems: { readonly nodes: readonly (FieldError | TimelineNode | null)[] | null } | FieldError | null;
}

interface HistoryData {
  readonly nodes: readonly (
    FieldError | { readonly id: string; readonly history: ConnectionPage<HistoryNode> } | null
  )[];
}

export function createHistoryReader(query: GraphqlQuery, batches: BatchReader): ReadHistory {
  const readPage = async (ids: readonly string[], pageSize: number, after: string | null) =>
    withoutNulls((await query<HistoryData>(READ_HISTORIES, { ids, pageSize, after })).nodes);

  return async (repositories, save) => {
    const requests = new Map(repositories.map((one) => [one.id, one]));
    const readBatch = async (ids: readonly string[]): Promise<HistorySnapshot[]> => {
      const read: HistorySnapshot[] = [];
      for (const { id, history } of await readPage(ids, FIRST_PAGE, null)) {
        const since = requests.get(id)?.since ?? 0;
        const pullRequests = await readChangedSince(since, toPage(history), async (after) => {
          const [more] = await readPage([id], NEXT_PAGE, after);
          return more === undefined ? { items: [] } : toPage(more.history);
        });
        read.push({ id, pullRequests });
      }
      return read;
    };
    await batches.read([...requests.keys()], async (ids) => {
      try {
        await save(await readBatch(ids));
      } catch (error) {
        if (ids.length === 1 && isTimeout(error)) await save(ids.map((id) => ({ id, pullRequests: undefined })));
        throw error;
      }
    });
  };
}

function toPage({ nodes, pageInfo }: ConnectionPage<HistoryNode>) {
  const next = pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;
  return { items: withoutNulls(nodes).map(toHistory), next };
}

const isBot = (actor: Actor | null | undefined): boolean => actor?.__typename === 'Bot';

function toHistory(node: HistoryNode): PullRequestHistory {
  const { number, title, url, isDraft, createdAt, updatedAt, mergedAt, closedAt, author, timelineItems } = node;
  const items = timelineItems === null || timelineItems instanceof FieldError ? [] : (timelineItems.nodes ?? []);
  return {
    ...{ number, title, url, isDraft, createdAt, updatedAt },
    author: author?.login ?? 'ghost',
    authorIsBot: isBot(author),
    ...(mergedAt !== null && { mergedAt }),
    ...(closedAt !== null && { closedAt }),
    events: withoutNulls(items).flatMap(toEvent),
  };
}

const KINDS: Readonly<Record<string, ReviewEvent['kind']>> = {
  ReadyForReviewEvent: 'ready',
  ConvertToDraftEvent: 'drafted',
  ReviewRequestedEvent: 'requested',
  ReviewRequestRemovedEvent: 'request_removed',
};

/** Reviews that their author has not submitted have no time. Dismissed approvals count as reviews. */
function toEvent({
  __typename,
  createdAt,
  state,
  submittedAt,
  author,
  requestedReviewer,
}: TimelineNode): ReviewEvent[] {
  if (__typename === 'PullRequestReview') {
    if (typeof submittedAt !== 'string' || state === 'PENDING') return [];
    const kind = state === 'APPROVED' ? 'approved' : 'reviewed';
    return [{ kind, at: submittedAt, login: author?.login ?? 'ghost', isBot: isBot(author) }];
  }
  const kind = KINDS[__typename];
  if (kind === undefined || createdAt === undefined) return [];
  const login = requestedReviewer?.login;
  return [{ kind, at: createdAt, ...(login !== undefined && { login, isBot: isBot(requestedReviewer) }) }];
}
