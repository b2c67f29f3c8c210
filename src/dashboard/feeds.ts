import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Caller } from '../accounts/callers.js';
import { requireUser, requireSession } from '../accounts/callers.js';
import { AppError } from '../core/errors.js';
import type { components } from '../generated/dashboard/types.js';
import { inTransaction } from '../storage/database.js';
import type { Database } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { FeedsTable } from '../storage/tables.js';
import { formatAtom } from './atom.js';
import { toBadge } from './badge.js';
import type { Badge } from './badge.js';
import type { Board } from './board.js';
import type { Boards } from './boards.js';
import { findViewText } from './views.js';

type Schemas = components['schemas'];
export type Feed = Schemas['Feed'];
export type CreatedFeed = Schemas['CreatedFeed'];
export type NewFeed = Schemas['CreateFeedRequest'];

/** More than a user can keep apart in a list. */
const MAX_FEEDS = 50;

/** Secret URLs that show a user's board, or one of their saved views, to anyone with the link. */
export interface Feeds {
  /** Lists the caller's feeds, oldest first, without their URLs. */
  list(caller: Caller | undefined): Promise<Feed[]>;
  /**
   * Creates a feed. Only this result contains its URL, because the server stores just a hash.
   *
   * @throws AppError `session_required` for a token, `not_found` for an unknown view, `conflict` if the caller has
   * 50 feeds already.
   */
  create(caller: Caller | undefined, feed: NewFeed): Promise<CreatedFeed>;
  /** Deletes one of the caller's feeds, if it exists. @throws AppError `session_required` for a token. */
  delete(caller: Caller | undefined, id: string): Promise<void>;
  /** Returns the feed as XML. @throws AppError `not_found` unless the token belongs to an Atom feed. */
  readAtom(token: string): Promise<string>;
  /** @throws AppError `not_found` unless the token belongs to a badge. */
  readBadge(token: string): Promise<Badge>;
}

export interface FeedsOptions {
  readonly database: Database;
  readonly boards: Boards;
  /** Returns the public origin. */
  readonly origin: () => string;
  readonly now?: (() => number) | undefined;
}

export function createFeeds({ database, boards, origin, now = Date.now }: FeedsOptions): Feeds {
  const read = async (token: string, kind: Feed['kind']): Promise<{ feed: FeedsTable; board: Board }> => {
    const [feed] = await findFeed(database, { hash: digest(token), kind });
    if (feed === undefined) throw new AppError('not_found', 'Unknown feed.');
    return { feed, board: await boards.readOwn(feed.person_id, { view: feed.view ?? undefined }) };
  };
  return {
    async list(caller) {
      const rows = await ownFeeds(database, requireUser(caller).personId).selectAll().execute();
      return rows.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1)).map(toFeed);
    },
    async create(caller, { kind, label, view }) {
      const { personId } = requireSession(caller);
      const token = randomBytes(32).toString('base64url');
      const named = { kind, label: label.trim(), view: view ?? null };
      const row = { id: randomUUID(), person_id: personId, ...named, hash: digest(token), created_at: now() };
      await inTransaction(database, (transaction) => addFeed(transaction, row));
      return { ...toFeed(row), url: `${origin()}/api/feeds/${token}/${kind}` };
    },
    async delete(caller, id) {
      const { personId } = requireSession(caller);
      await database.deleteFrom('feeds').where('person_id', '=', personId).where('id', '=', id).execute();
    },
    async readAtom(token) {
      const { feed, board } = await read(token, 'atom');
      const { id, label, created_at: createdAt } = feed;
      return formatAtom({ id, title: label, createdAt, link: `${origin()}/`, pullRequests: board.pullRequests });
    },
    async readBadge(token) {
      const { feed, board } = await read(token, 'badge');
      return toBadge(feed.label, board.pullRequests);
    },
  };
}

/** Feeds are looked up by this hash, so that the duration of a lookup reveals nothing about tokens. */
const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

interface FeedKey {
  readonly hash: string;
  readonly kind: Feed['kind'];
}

const findFeed = prepare((database, { hash, kind }: FeedKey) =>
  database.selectFrom('feeds').selectAll().where('hash', '=', hash).where('kind', '=', kind),
);

function ownFeeds(database: Database, personId: string) {
  return database.selectFrom('feeds').where('person_id', '=', personId);
}

async function addFeed(transaction: Database, row: FeedsTable): Promise<void> {
  const { person_id: personId, view } = row;
  if (view !== null && (await findViewText(transaction, personId, view)) === undefined) {
    throw new AppError('not_found', `No saved view named "${view}".`, { field: 'view' });
  }
  const own = ownFeeds(transaction, personId).select(({ fn }) => fn.countAll<number>().as('count'));
  const { count } = await own.executeTakeFirstOrThrow();
  if (count >= MAX_FEEDS) {
    throw new AppError('conflict', `You have reached the limit of ${MAX_FEEDS} feeds. Delete one first.`);
  }
  await transaction.insertInto('feeds').values(row).execute();
}

function toFeed({ id, kind, label, view, created_at }: FeedsTable): Feed {
  return { id, kind, label, ...(view === null ? {} : { view }), createdAt: new Date(created_at).toISOString() };
}
