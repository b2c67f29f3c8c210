/** Shared steps for performing an action on a pull request at a forge. */
import { type ActionErrorCode, ForgeError, toForgeError } from './forge-error.js';
import type { ActionName, Forge, PullRequestEdit } from './forge.js';
import { type ActionCandidate, explainRejection } from './rules/allowed-actions.js';

export type ForgeActionResult = Awaited<ReturnType<Forge['act']>>;

/** The request of each supported action. Each is sent at most once. */
export type ActionRequests<Context> = Readonly<
  Partial<Record<ActionName, (context: Context) => Promise<ForgeActionResult>>>
>;

export interface ForgeAction<Context> {
  readonly requests: ActionRequests<Context>;
  /** Reads the current state of the pull request. Throws ForgeError `not_found` when it does not exist. */
  readonly read: () => Promise<Context>;
  readonly findClosed: (context: Context) => ActionErrorCode | undefined;
  readonly judge: (context: Context) => ActionCandidate | Promise<ActionCandidate>;
}

/** @see Forge.act */
export async function sendForgeAction<Context>(
  acting: ForgeAction<Context>,
  action: ActionName,
): Promise<ForgeActionResult> {
  const send = acting.requests[action];
  if (send === undefined) throw new ForgeError('unknown', { refusal: 'unknown' });
  const context = await acting.read();
  const closed = acting.findClosed(context);
  if (closed !== undefined) throw new ForgeError('conflict', { refusal: closed });
  try {
    return await send(context);
  } catch (error) {
    const failure = toForgeError(error);
    const { kind, status, resetsAt, cause, words } = failure;
    if (failure.refusal !== undefined) throw error;
    throw new ForgeError(kind, { status, resetsAt, cause, words, refusal: await findRefusal(acting, action, failure) });
  }
}

/** Reasons that the state of a pull request doesn't show, by the messages of the forges. */
const REFUSAL_BY_WORDS: readonly (readonly [RegExp, ActionErrorCode])[] = [
  [/merge queue/i, 'merge_queue'],
  [/rule violations?/i, 'rule_violation'],
  [/head (branch|sha|commit).*(modified|match|out of date|changed)|sha does not match head/i, 'head_changed'],
  [/(merge commits?|squash|rebase|merge (method|style)).*not allowed|not allowed merge style/i, 'method_not_allowed'],
  [/code owner|approving review|required (status )?check|protected branch/i, 'blocked_by_protection'],
];

/**
 * Derives the reason from the forge's message if that is known, and else from the current state of the pull request, as
 * the messages of forges are not a stable API.
 */
async function findRefusal<Context>(
  { read, findClosed, judge }: ForgeAction<Context>,
  action: ActionName,
  { kind, words = '' }: ForgeError,
): Promise<ActionErrorCode> {
  if (kind === 'rate_limited') return 'rate_limited';
  if (kind === 'unauthorized') return 'permission';
  const known = REFUSAL_BY_WORDS.find(([pattern]) => pattern.test(words))?.[1];
  if (kind !== 'conflict') return known ?? 'unknown';
  if (known !== undefined && known !== 'blocked_by_protection') return known;
  try {
    const context = await read();
    const derived = findClosed(context) ?? explainRejection(action, await judge(context));
    return derived === 'unknown' ? (known ?? derived) : derived;
  } catch {
    return known ?? 'unknown';
  }
}

/** Returns the input of an action. @throws Error if it is missing, which is a mistake of the caller. */
export function requireInput<Input>(input: Input | undefined): Input {
  if (input === undefined) throw new Error('The action has no input.');
  return input;
}

/** Splits reviewers into logins and the names of teams, which have their owner's name in front. */
function splitReviewers(names: readonly string[]): { readonly logins: string[]; readonly teams: string[] } {
  const isTeam = (name: string): boolean => name.includes('/');
  return {
    logins: names.filter((name) => !isTeam(name)),
    teams: names.filter(isTeam).map((name) => name.replace(/^.*\//, '')),
  };
}

/** Returns the names after changes. */
export function applyNameChanges(names: readonly string[], { add = [], remove = [] }: NameChanges = {}): string[] {
  return [...new Set([...names, ...add])].filter((name) => !remove.includes(name));
}

type NameChanges = NonNullable<PullRequestEdit['labels']>;

/** A request of an edit. */
export type EditRequest = readonly [method: string, path: string, body?: object];

/** Lists the requests that add and remove reviewers at GitHub, Forgejo and Gitea. */
export function toReviewerRequests(path: string, { reviewers = {} }: PullRequestEdit): EditRequest[] {
  const asked = [
    ['POST', reviewers.add],
    ['DELETE', reviewers.remove],
  ] as const;
  return asked.flatMap(([method, names]): EditRequest[] => {
    if (names === undefined) return [];
    const { logins, teams } = splitReviewers(names);
    return [[method, `${path}/requested_reviewers`, { reviewers: logins, team_reviewers: teams }]];
  });
}

/** Resolves to `done` for an action that is complete when the forge has responded. */
export async function doneResult(sent: Promise<unknown>): Promise<'done'> {
  await sent;
  return 'done';
}

/** Resolves to `queued` for an action that the forge performs after its response. */
export async function queuedResult(sent: Promise<unknown>): Promise<'queued'> {
  await sent;
  return 'queued';
}
