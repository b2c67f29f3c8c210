/** The texts of notifications, and their form for each kind of channel. */
import type { components } from '../../generated/dashboard/types.js';
import { FORGE_PRODUCT_NAMES, type PullRequest } from '../forges/forge.js';
import type { EventKind, NotificationEvent, RotationEvent } from './events.js';

type DeliveryKind = components['schemas']['NotificationDelivery']['kind'];
type DigestRow = Pick<PullRequest, 'author' | 'forge' | 'number' | 'repo' | 'title' | 'url'>;

/** A part of the digest. */
export interface DigestSection {
  readonly section: PullRequest['section'];
  readonly pullRequests: readonly DigestRow[];
  /** The number of further pull requests. */
  readonly more: number;
}

/** The content of a delivery. It is the same in each attempt. */
export interface Message {
  readonly kind: DeliveryKind;
  readonly title: string;
  readonly events?: readonly NotificationEvent[];
  readonly sections?: readonly DigestSection[];
}

const EVENT_TITLES: Readonly<Record<EventKind, string>> = {
  review_requested: 'Review requested',
  checks_failed: 'Checks failed',
  approved: 'Approved',
  changes_requested: 'Changes requested',
  mentioned: 'You were mentioned',
  merged: 'Merged',
  stale: 'No recent activity',
  rotation_due: 'Secret due for rotation',
};

const SECTION_TITLES: Readonly<Record<PullRequest['section'], string>> = {
  needs_your_review: 'Needs your review',
  returned_to_you: 'Returned to you',
  ready_to_merge: 'Ready to merge',
  waiting_for_others: 'Waiting for others',
  drafts: 'Drafts',
};

/** Titles are subjects of e-mails. The contract allows 300 characters. */
const MAX_TITLE = 200;

const titleOf = (event: NotificationEvent): string =>
  EVENT_TITLES[event.kind] + ('isTeam' in event && event.isTeam === true ? ' from your team' : '');

type Row = DigestRow | RotationEvent;

const nameOf = (row: Row): string => ('secret' in row ? row.secret : `${row.repo} #${row.number}`);

/** Returns the name of the row, and the title of a pull request. */
const toLine = (row: Row): string => ('secret' in row ? row.secret : `${nameOf(row)}: ${row.title}`);

/** Creates the message for events, of which there is at least one. */
export function toEventsMessage(events: readonly NotificationEvent[]): Message {
  const [first] = events;
  const kinds = [...new Set(events.map(titleOf))].join(', ');
  const title =
    events.length === 1 && first ? `${titleOf(first)}: ${nameOf(first)}` : `${events.length} notifications: ${kinds}`;
  return { kind: 'events', title: shorten(title, MAX_TITLE), events };
}

export const TEST_MESSAGE: Message = { kind: 'test', title: 'Test message' };

/** The sections of a digest: where it is the user's turn. */
const DIGEST_SECTIONS = ['needs_your_review', 'returned_to_you', 'ready_to_merge'] as const;

/** More rows are faster to read on the board. */
const MAX_DIGEST_ROWS = 20;

/** Creates the digest of a board. @returns `undefined` if it is nowhere the user's turn. */
export function toDigestMessage(pullRequests: readonly PullRequest[]): Message | undefined {
  const sections = DIGEST_SECTIONS.flatMap((section) => {
    const rows = pullRequests.filter((row) => row.section === section);
    const shown = rows.slice(0, MAX_DIGEST_ROWS);
    return rows.length === 0
      ? []
      : [{ section, pullRequests: shown.map(toDigestRow), more: rows.length - shown.length }];
  });
  if (sections.length === 0) return undefined;
  const counts = sections.map(({ section, pullRequests: rows, more }) => {
    return `${rows.length + more} ${SECTION_TITLES[section].toLowerCase()}`;
  });
  return { kind: 'digest', title: `Pull requests: ${counts.join(', ')}`, sections };
}

const toDigestRow = ({ forge, repo, number, title, url, author }: DigestRow): DigestRow => {
  return { forge, repo, number, title, url, author };
};

const shorten = (text: string, most: number): string =>
  text.length > most ? `${withoutHalfCharacter(text.slice(0, most - 1))}…` : text;

const withoutHalfCharacter = (text: string): string => text.replace(/[\uD800-\uDBFF]$/u, '');

/** Returns the message as plain text, with one URL per pull request or secret. */
export function toPlainText({ kind, title, events = [], sections = [] }: Message, board: string): string {
  if (kind === 'test') return `This is a test message. Notifications of ${board} reach you here.`;
  const blocks = [
    ...events.map((event) => `${titleOf(event)}\n${describe(event)}`),
    ...sections.map(({ section, pullRequests, more }) =>
      [SECTION_TITLES[section], ...pullRequests.map(describe), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'),
    ),
  ];
  return [...(events.length === 1 ? [] : [title]), ...blocks, board].join('\n\n');
}

const describe = (row: Row): string =>
  `${toLine(row)}${'secret' in row ? '' : ` (${row.author}, ${FORGE_PRODUCT_NAMES[row.forge]})`}\n${row.url}`;

/** A post has as many lines as fit on a screen. */
const MAX_LINES = 20;

/** Returns the message in the markup of Slack, which Mattermost understands too. Bold text differs, so there is none. */
export function toSlackText({ kind, title, events = [], sections = [] }: Message, board: string): string {
  if (kind === 'test') return `This is a test message of ${toSlackLink(board, 'the board')}.`;
  const lines = [
    ...events.map((event) => `${titleOf(event)}: ${toSlackLine(event)}`),
    ...sections.flatMap(({ section, pullRequests }) =>
      pullRequests.map((row) => `${SECTION_TITLES[section]}: ${toSlackLine(row)}`),
    ),
  ];
  const all = sections.reduce((total, { more }) => total + more, lines.length);
  const shown = lines.slice(0, MAX_LINES);
  const more = all > shown.length ? [`and ${all - shown.length} more`] : [];
  const head = events.length === 1 ? [] : [toSlackLink(board, title)];
  return [...head, ...shown, ...more].join('\n');
}

const toSlackLine = (row: Row): string =>
  toSlackLink(row.url, toLine(row)) + ('secret' in row ? '' : ` by ${escapeSlack(row.author)}`);

const toSlackLink = (url: string, text: string): string => `<${escapeUrl(url)}|${escapeSlack(text)}>`;

const escapeUrl = (url: string): string => url.replaceAll(/[<>|\s]/g, encodeURIComponent).replaceAll('&', '&amp;');

/** The three characters that Slack requires as entities, and mentions, which would notify a whole channel. */
const escapeSlack = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    // A bar ends the URL of a link. Mattermost also notifies for names without angle brackets.
    .replaceAll('|', '¦')
    .replaceAll('@', '@\u200B')
    // Mattermost converts links to Markdown, in which a title could begin a link or an image of its own.
    .replaceAll('](', ']\u200B(');

/** A notification of a browser. The service worker shows it. */
export interface PushNotification {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly url: string;
}

/** Push services accept 4,096 bytes, encryption included. */
const MAX_PUSH_LINES = 5;
const MAX_PUSH_LINE = 120;

export function toPushNotification(id: string, message: Message, board: string): PushNotification {
  const { kind, title, events = [], sections = [] } = message;
  const rows = [...events, ...sections.flatMap(({ pullRequests }) => pullRequests)];
  const [first] = rows;
  const lines = rows.slice(0, MAX_PUSH_LINES).map((row) => shorten(toLine(row), MAX_PUSH_LINE));
  const body = kind === 'test' ? 'Notifications reach this browser.' : lines.join('\n');
  return { id, title, body, url: rows.length === 1 && first ? first.url : board };
}

/** Returns the body of the request of a webhook. */
export function toWebhookBody(message: Message, createdAt: number): object {
  const { kind, title, events = [], sections } = message;
  return {
    type: kind,
    timestamp: new Date(createdAt).toISOString(),
    data: {
      title,
      ...(kind === 'events' && {
        events: events.map(toWebhookEvent),
      }),
      ...(sections && { sections }),
    },
  };
}

function toWebhookEvent(event: NotificationEvent): object {
  if (event.kind === 'rotation_due') return { event: event.kind, secret: event.secret, url: event.url };
  const { kind, isTeam, ...row } = event;
  return { event: kind, ...row, isTeam: isTeam === true };
}
