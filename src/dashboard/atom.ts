import type { components } from '../generated/dashboard/types.js';

type PullRequest = components['schemas']['PullRequest'];

/** Feed readers rarely show more. */
const MAX_ENTRIES = 100;

export interface AtomFeed {
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
 * The feed has no `self` link, because its URL is secret.
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
