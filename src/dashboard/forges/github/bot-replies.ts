import type { BotReply } from '../forge.js';
import { withoutNulls } from '../http/connections.js';
import { findBot } from '../rules/bots.js';
import type { CommentNode } from './nodes.js';
import { READ_REPLIES } from './queries.js';
import type { GithubRequests } from './requests.js';

/** GraphQL's limit for ids in one query. */
const MAX_COMMENTS = 100;

/** Dependabot's reply to authors without push access, which includes all Apps. */
const REFUSED = /only users with push access can use that command/i;

/** Reads Dependabot's replies to comments with commands, in one request. */
export async function readBotReplies(
  requests: Pick<GithubRequests, 'graphql'>,
  comments: readonly string[],
): Promise<ReadonlyMap<string, BotReply>> {
  const data = await requests.graphql(READ_REPLIES, { ids: comments.slice(0, MAX_COMMENTS) });
  const { nodes } = data as { readonly nodes: readonly (CommentNode | null)[] };
  return new Map(withoutNulls(nodes).map((node) => [node.id, toReply(node)]));
}

function toReply({ createdAt, reactionGroups, pullRequest }: CommentNode): BotReply {
  const thumbs = (reactionGroups ?? []).find(({ content }) => content === 'THUMBS_UP')?.reactors.edges ?? [];
  const thumb = withoutNulls(thumbs).find(({ node }) => isDependabot(node.login));
  const later = withoutNulls(pullRequest?.comments.nodes ?? []).filter((one) => one.createdAt >= createdAt);
  const isRefused = later.some(({ author, body }) => isDependabot(author?.login) && REFUSED.test(body));
  return { isRefused, ...(thumb && { acknowledgedAt: thumb.reactedAt }) };
}

const isDependabot = (login = ''): boolean => findBot(login, []) === 'dependabot';
