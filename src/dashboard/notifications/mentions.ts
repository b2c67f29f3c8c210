/** Finds the names of users in the comments that webhooks deliver. */
import type { ForgeName } from '../forges/forge.js';
import type { FoundEvent } from './events.js';

/** A text in a pull request, as a delivery contains it. */
export interface DeliveredText {
  /** Identifies the text at the forge. */
  readonly id: string;
  readonly text: string;
  readonly author: string;
  readonly url: string;
  readonly pullRequest: { readonly number: number; readonly title: string };
}

/** No forge allows longer comments. */
const MAX_TEXT = 1_000_000;
const MAX_TITLE = 1_024;
const MAX_URL = 2_048;

/** A part of a payload. Its members are `unknown`, as a payload may have any shape. */
interface TextNode {
  readonly html_url?: unknown;
  readonly body?: unknown;
  readonly user?: { readonly login?: unknown } | null;
  readonly number?: unknown;
  readonly title?: unknown;
  /** Only the issues of pull requests have it. */
  readonly pull_request?: unknown;
  readonly updated_at?: unknown;
  /** The text of a review of Forgejo or Gitea, which has no author and no link. */
  readonly content?: unknown;
}

interface GithubPayload {
  readonly action?: unknown;
  readonly comment?: TextNode | null;
  readonly review?: TextNode | null;
  readonly pull_request?: TextNode | null;
  readonly issue?: TextNode | null;
  readonly sender?: { readonly login?: unknown } | null;
}

interface GitlabPayload {
  readonly object_kind?: unknown;
  readonly object_attributes?: Readonly<Record<string, unknown>> | null;
  readonly merge_request?: { readonly iid?: unknown; readonly title?: unknown } | null;
  readonly user?: { readonly username?: unknown } | null;
}

const ACTIONS: readonly unknown[] = ['created', 'opened', 'submitted'];

const toText = (value: unknown, most: number): string => (typeof value === 'string' ? value.slice(0, most) : '');

/** Reads the text of a delivery of GitHub, Forgejo or Gitea. @returns `undefined` for other events. */
export function readGithubText(payload: unknown): DeliveredText | undefined {
  const { action, comment, review, pull_request, issue, sender } = (payload ?? {}) as GithubPayload;
  if (action === 'reviewed' && review) return readForgejoReview(review, { pull_request, sender });
  if (!ACTIONS.includes(action)) return undefined;
  // The comments of pull requests have an issue too, which then names the pull request.
  const place = pull_request ?? (issue?.pull_request ? issue : undefined);
  const source = comment ?? review ?? (action === 'opened' ? pull_request : undefined);
  return toDelivered({
    id: source?.html_url ?? place?.html_url,
    text: source?.body,
    author: source?.user?.login,
    url: source?.html_url,
    ...{ number: place?.number, title: place?.title },
  });
}

/** Reads the text of a review of Forgejo or Gitea, whose comments on lines are not delivered. */
function readForgejoReview(
  { content }: TextNode,
  { pull_request, sender }: Pick<GithubPayload, 'pull_request' | 'sender'>,
): DeliveredText | undefined {
  const { html_url: url, updated_at, number, title } = pull_request ?? {};
  const author = sender?.login;
  // A delivery that is sent again has the same time, and a further review a later one.
  return toDelivered({
    id: `${String(url)} ${String(updated_at)} ${String(author)}`,
    text: content,
    author,
    url,
    number,
    title,
  });
}

/** Reads the note or the description of a delivery of GitLab. @returns `undefined` for other events. */
export function readGitlabText(payload: unknown): DeliveredText | undefined {
  const { object_kind, object_attributes, merge_request, user } = (payload ?? {}) as GitlabPayload;
  const { note, description, action, url, iid, title } = object_attributes ?? {};
  const author = user?.username;
  if (object_kind === 'note') {
    return toDelivered({ id: url, text: note, author, url, number: merge_request?.iid, title: merge_request?.title });
  }
  if (object_kind !== 'merge_request' || action !== 'open') return undefined;
  return toDelivered({ id: url, text: description, author, url, number: iid, title });
}

interface RawText {
  readonly id: unknown;
  readonly text: unknown;
  readonly author: unknown;
  readonly url: unknown;
  readonly number: unknown;
  readonly title: unknown;
}

function toDelivered({ id, text, author, url, number, title }: RawText): DeliveredText | undefined {
  const known = { id: toText(id, MAX_URL), text: toText(text, MAX_TEXT), url: toText(url, MAX_URL) };
  if (known.id === '' || known.text === '' || typeof number !== 'number' || !Number.isSafeInteger(number))
    return undefined;
  if (!URL.canParse(known.url) || !/^https?:$/.test(new URL(known.url).protocol)) return undefined;
  return { ...known, author: toText(author, MAX_TITLE), pullRequest: { number, title: toText(title, MAX_TITLE) } };
}

interface MentionPlace {
  readonly forge: ForgeName;
  readonly repo: string;
  readonly username: string;
}

/** Returns the event of a text that mentions the user, unless the user wrote it. */
export function findMention(delivered: DeliveredText, { forge, repo, username }: MentionPlace): FoundEvent | undefined {
  const { id, text, author, url, pullRequest } = delivered;
  if (username === '' || author.toLowerCase() === username.toLowerCase() || !mentions(text, username)) return undefined;
  return { key: `mentioned ${forge} ${id}`, event: { kind: 'mentioned', forge, repo, url, author, ...pullRequest } };
}

/** Reports whether a Markdown text mentions a user outside of code, comments and quotations, as forges do. */
export function mentions(text: string, username: string): boolean {
  const prose = withoutFencedCode(text)
    .replaceAll(/(?<!`)(`{1,4})(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
    // A comment without an end lasts until the end of the text.
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replaceAll(/^[ \t]*>.*$/gm, '')
    .toLowerCase();
  const name = `@${username.toLowerCase()}`;
  for (let at = prose.indexOf(name); at !== -1; at = prose.indexOf(name, at + 1)) {
    const [before, after] = [prose[at - 1] ?? ' ', prose[at + name.length] ?? ' '];
    // A dot or a dash may be a part of a longer name. A slash follows the scope of a package or the name of a group.
    const isLonger = /[\w/-]/.test(after) || /^\.\w/.test(prose.slice(at + name.length, at + name.length + 2));
    if (!/[\w/`]/.test(before) && !isLonger) return true;
  }
  return false;
}

/** A fence before code, also in an item of a list. Backticks after one would end a code span instead. */
const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/;

/** Removes blocks of code. It reads each line once, as comments of strangers can be long. */
function withoutFencedCode(text: string): string {
  let fence: string | undefined;
  const lines = text.split('\n').filter((line) => {
    const isCode = fence !== undefined;
    if (fence === undefined) fence = FENCE.exec(line)?.[1];
    else if (/^[ \t]*(?:`{3,}|~{3,})\s*$/.test(line) && line.trim().startsWith(fence)) fence = undefined;
    return !isCode && fence === undefined;
  });
  return lines.join('\n');
}
