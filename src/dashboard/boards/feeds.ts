import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { assertSessionOpen, type Caller, requireSession, requireUser } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import { prepare } from '../../storage/prepared.js';
import type { FeedsTable } from '../../storage/tables.js';
import type { Board } from './board.js';
import type { Boards } from './boards.js';
import { findViewText } from './views.js';

type Schemas = components['schemas'];
type PullRequest = Schemas['PullRequest'];
type Badge = Schemas['Badge'];
type Feed = Schemas['Feed'];
type CreatedFeed = Schemas['CreatedFeed'];
type NewFeed = Schemas['CreateFeedRequest'];

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

interface FeedsOptions {
  readonly database: Database;
  readonly boards: Boards;
  /** Returns the public origin. */
  readonly origin: () => string;
  readonly now?: () => number;
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
      const session = requireSession(caller);
      const { personId } = session;
      const token = randomBytes(32).toString('base64url');
      const named = { kind, label: label.trim(), view: view ?? null };
      const row = { id: randomUUID(), person_id: personId, ...named, hash: digest(token), created_at: now() };
      await inTransaction(database, async (transaction) => {
        await assertSessionOpen(transaction, session);
        await addFeed(transaction, row);
      });
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

/** Feed readers rarely show more. */
const MAX_ENTRIES = 100;

interface AtomFeed {
  /** A UUID. */
  readonly id: string;
  readonly title: string;
  /** In milliseconds. */
  readonly createdAt: number;
  /** The page that shows the same pull requests. */
  readonly link: string;
  readonly pullRequests: readonly PullRequest[];
}

/**
 * Formats the most recently updated pull requests as an Atom feed (RFC 4287). All texts are plain text, never markup.
 * The feed has no `self` link, because its URL is secret. The package `feed` marks titles as HTML, loses escaped entities
 * and keeps characters that XML cannot represent.
 */
export function formatAtom({ id, title, createdAt, link, pullRequests }: AtomFeed): string {
  const newest = [...pullRequests].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, MAX_ENTRIES);
  const updated = newest[0] === undefined ? createdAt : timeOf(newest[0]);
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:uuid:${toXml(id)}</id>
  <title>${toXml(title)}</title>
  <updated>${new Date(updated).toISOString()}</updated>
  <link rel="alternate" href="${toXml(link)}"/>
  <generator>Trellis</generator>
${newest.map(formatEntry).join('')}</feed>
`;
}

function formatEntry(one: PullRequest): string {
  const { repo, number, title, url, author, createdAt, updatedAt, labels } = one;
  const categories = labels.map(({ name }) => `    <category term="${toXml(name)}"/>\n`).join('');
  return `  <entry>
    <id>${toXml(url)}</id>
    <title>${toXml(`${repo} #${number}: ${title}`)}</title>
    <updated>${new Date(updatedAt).toISOString()}</updated>
    <published>${new Date(createdAt).toISOString()}</published>
    <author><name>${toXml(author)}</name></author>
    <link rel="alternate" href="${toXml(url)}"/>
${categories}    <summary>${toXml(summarize(one))}</summary>
  </entry>
`;
}

const CI_WORDS: Readonly<Record<PullRequest['ci'], string>> = {
  success: 'Checks pass.',
  failure: 'Checks fail.',
  pending: 'Checks are running.',
  none: 'No checks.',
};

const SECTION_WORDS: Readonly<Record<PullRequest['section'], string>> = {
  needs_your_review: 'Needs your review.',
  returned_to_you: 'Returned to you.',
  ready_to_merge: 'Ready to merge.',
  waiting_for_others: 'Waiting for others.',
  drafts: 'Draft.',
};

const summarize = ({ section, ci, ciKnown }: PullRequest): string =>
  `${SECTION_WORDS[section]} ${ciKnown === false ? 'Checks unknown.' : CI_WORDS[ci]}`;

const timeOf = ({ updatedAt }: PullRequest): number => Date.parse(updatedAt);

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes element text or an attribute value. Characters that XML cannot represent become U+FFFD. */
function toXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/**
 * Counts pull requests in the format of a shields.io endpoint badge: red if checks fail, yellow while checks are
 * running.
 */
export function toBadge(label: string, pullRequests: readonly Pick<PullRequest, 'ci'>[]): Badge {
  const count = (ci: PullRequest['ci']): number => pullRequests.filter((one) => one.ci === ci).length;
  const [all, failing] = [pullRequests.length, count('failure')];
  const color = failing > 0 ? 'red' : count('pending') > 0 ? 'yellow' : 'brightgreen';
  return { schemaVersion: 1, label, message: failing > 0 ? `${failing} failing of ${all}` : String(all), color };
}
