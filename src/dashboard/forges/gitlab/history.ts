import {
  isBotName,
  type PullRequestHistory,
  readChangedSince,
  readHistoriesInTurn,
  type ReadHistory,
  type ReviewEvent,
} from '../history.js';
import { type ConnectionPage, withoutNulls } from '../http/graphql-pages.js';
import { READ_HISTORY } from './queries.js';
import type { GitlabRequests } from './requests.js';

interface Person {
  readonly username: string;
  /** Missing on older servers. */
  readonly bot?: boolean | null;
}

interface NoteNode {
  readonly system: boolean;
  readonly body: string;
  readonly createdAt: string;
  readonly author: Person | null;
}

interface HistoryNode {
  readonly iid: string;
  readonly title: string;
  readonly webUrl: string;
  readonly draft: boolean;
  readonly state: 'closed' | 'locked' | 'merged' | 'opened';
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly mergedAt: string | null;
  /** Missing on older servers. */
  readonly closedAt?: string | null;
  readonly author: Person | null;
  readonly notes: { readonly nodes: readonly (NoteNode | null)[] | null } | null;
}

interface HistoryData {
  readonly project: { readonly mergeRequests: ConnectionPage<HistoryNode> | null } | null;
}

export function createHistoryReader(requests: GitlabRequests): ReadHistory {
  async function readPage(path: string, after: string | null) {
    const { project } = (await requests.graphql(READ_HISTORY, { path, after })) as HistoryData;
    if (!project?.mergeRequests) return { items: [] };
    const { nodes, pageInfo } = project.mergeRequests;
    const next = pageInfo.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;
    return { items: withoutNulls(nodes).map(toHistory), next };
  }

  return readHistoriesInTurn(async ({ fullName, since }) => {
    const first = await readPage(fullName, null);
    return readChangedSince(since, first, (after) => readPage(fullName, after));
  });
}

const isBot = (person: Person | null): boolean => person !== null && (person.bot ?? isBotName(person.username));

function toHistory(node: HistoryNode): PullRequestHistory {
  const {
    iid,
    title,
    webUrl: url,
    draft: isDraft,
    state,
    createdAt,
    updatedAt,
    mergedAt,
    closedAt,
    author,
    notes,
  } = node;
  const isOpen = state === 'opened' || state === 'locked';
  return {
    ...{ title, url, isDraft, createdAt, updatedAt },
    number: Number(iid),
    author: author?.username ?? 'ghost',
    authorIsBot: isBot(author),
    ...(mergedAt !== null && { mergedAt }),
    // Servers before 17.4 report no time.
    ...(!isOpen && { closedAt: mergedAt ?? closedAt ?? updatedAt }),
    events: withoutNulls(notes?.nodes ?? []).flatMap(toEvents),
  };
}

/** The notes that GitLab writes in English, whatever the language of its pages. */
const DRAFT_NOTE = /^marked (?:this|the) merge request as (?:a )?\*{0,2}(draft|ready)/i;
const VERDICTS: Readonly<Record<string, ReviewEvent['kind']>> = {
  'approved this merge request': 'approved',
  'requested changes': 'reviewed',
  'left review comments': 'reviewed',
};

/** Comments are reviews, as GitLab has no other trace of a review without a verdict. */
function toEvents({ system, body, createdAt: at, author }: NoteNode): ReviewEvent[] {
  const reviewer = { at, login: author?.username ?? 'ghost', isBot: isBot(author) };
  if (!system) return [{ kind: 'reviewed', ...reviewer }];
  const verdict = VERDICTS[body.trim()];
  if (verdict !== undefined) return [{ kind: verdict, ...reviewer }];
  const [, draft] = DRAFT_NOTE.exec(body) ?? [];
  if (draft !== undefined) return [{ kind: draft.toLowerCase() === 'ready' ? 'ready' : 'drafted', at }];
  const [, requested = '', removed = ''] =
    /^(?:requested review from (.*?))?(?: and )?(?:removed review request for (.*))?$/s.exec(body) ?? [];
  return [
    ...listLogins(requested).map((login) => ({ kind: 'requested' as const, at, login, isBot: isBotName(login) })),
    ...listLogins(removed).map((login) => ({ kind: 'request_removed' as const, at, login, isBot: isBotName(login) })),
  ];
}

/** The most reviewers that one note names. */
const MAX_NAMED = 50;

const listLogins = (text: string): readonly string[] =>
  Array.from(text.matchAll(/@([\w.-]*\w)/g), ([, login = '']) => login).slice(0, MAX_NAMED);
