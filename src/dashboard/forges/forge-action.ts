/** Shared steps for performing an action on a pull request at a forge. */
import { type ActionErrorCode, ForgeError, toForgeError } from './forge-error.js';
import type {
  ActionName,
  Forge,
  PullRequestEdit,
  BoardAction,
  ForgeName,
  ForgePullRequest,
  PullRequest,
} from './forge.js';

export type ForgeActionResult = Awaited<ReturnType<Forge['act']>>;

/** The request of each supported action. Each is sent at most once. */
export type ActionRequests<Context> = Readonly<
  Partial<Record<ActionName, (context: Context) => Promise<ForgeActionResult>>>
>;

interface ForgeAction<Context> {
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
  [/^head (out of date|target does not match)/i, 'head_changed'],
  [/^user not allowed to merge/i, 'permission'],
  [/(merge commits?|squash|rebase|merge (method|style)).*not allowed|not allowed merge style/i, 'method_not_allowed'],
  [/code owner|approving review|required (status )?check|protected branch/i, 'blocked_by_protection'],
  [/^not (allowed|ready) to merge/i, 'blocked_by_protection'],
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

type AllowedAction = PullRequest['allowedActions'][number];
type ActionBlock = NonNullable<AllowedAction['blocked']>;
type BlockCode = ActionBlock['code'];

/** A bot that maintains dependencies. */
export type Bot = 'dependabot' | 'renovate';

/** The data of a pull request that its allowed actions depend on. */
export interface ActionCandidate extends ForgePullRequest, Pick<PullRequest, 'stackedOn'> {
  readonly forge: ForgeName;
  readonly bot: Bot | undefined;
  /** Whether the user opened it. */
  readonly isOwn?: boolean;
}

type Rule = (pullRequest: ActionCandidate) => boolean;

const BLOCKS: Readonly<Record<BlockCode, Omit<ActionBlock, 'code'>>> = {
  already_up_to_date: { message: 'Merging would change nothing.', next: 'Close it.' },
  stacked: { message: 'It is stacked on another open pull request.', next: 'Merge that pull request first.' },
  conflict: { message: 'It conflicts with its base.', next: 'Resolve the conflicts.' },
  not_mergeable: { message: "The forge reports that it can't be merged now." },
  checks_pending: { message: 'Checks are still running.', next: 'Wait for them, or enable auto-merge.' },
  behind: { message: 'The branch is out of date with its base.', next: 'Update the branch.' },
  checks_failing: { message: 'Checks are failing.', next: 'Fix the failures, or rerun the checks.' },
  merge_queue: { message: 'Its base merges through a queue.', next: 'Add it to the merge queue.' },
  permission: { message: "You can't write to this repository.", next: 'Ask a maintainer.' },
  blocked_by_protection: {
    message: 'Branch protection rules are not met.',
    next: 'See the requirements at the forge.',
  },
};

const isNotMergeable: Rule = ({ mergeStatus }) => mergeStatus !== 'mergeable';

/** Rules about merging in order of precedence. The first that applies decides; if none does, merging is allowed. */
const MERGE_RULES: readonly (readonly [Rule, BlockCode | undefined])[] = [
  [({ readOnly }) => readOnly === true, 'permission'],
  [({ empty }) => empty, 'already_up_to_date'],
  [({ stackedOn }) => stackedOn !== null, 'stacked'],
  [isConflicting, 'conflict'],
  [({ draft }) => draft, 'not_mergeable'],
  [({ mergeQueueRequired, mergeQueue }) => mergeQueueRequired === true || mergeQueue !== undefined, 'merge_queue'],
  // Only optional checks fail or run, so the forge allows merging.
  [({ mergeStatus }) => mergeStatus === 'unstable', undefined],
  [({ ci }) => ci === 'pending', 'checks_pending'],
  [(pullRequest) => pullRequest.behind && isNotMergeable(pullRequest), 'behind'],
  [({ mergeStatus, ci }) => mergeStatus === 'blocked' && ci === 'failure', 'checks_failing'],
  [({ mergeStatus }) => mergeStatus === 'blocked', 'blocked_by_protection'],
  [isNotMergeable, 'not_mergeable'],
];

/** The conditions of the other actions, which are omitted if their condition is not met. */
const OFFERED: readonly (readonly [BoardAction, Rule])[] = [
  ['close', () => true],
  ['update_branch', ({ behind, empty, bot }) => behind && !empty && bot === undefined],
  ['auto_merge', (pullRequest) => mayAutoMerge(pullRequest)],
  ['cancel_auto_merge', ({ autoMergeEnabled }) => autoMergeEnabled === true],
  ['enqueue', (pullRequest) => mayEnqueue(pullRequest)],
  ['dequeue', ({ mergeQueue }) => mergeQueue !== undefined],
  ['dependabot_rebase', isDependabotOnGithub],
  ['dependabot_recreate', isDependabotOnGithub],
  ['renovate_rebase', ({ bot }) => bot === 'renovate'],
  ['rerun_checks', ({ ci }) => ci === 'failure'],
];

/** Lists the actions of a pull request, with the reason if one is blocked. Merging comes first. */
export function listAllowedActions(pullRequest: ActionCandidate): AllowedAction[] {
  if (pullRequest.readOnly === true) return listReaderActions(pullRequest);
  const others = OFFERED.filter(([, isOffered]) => isOffered(pullRequest)).map(([action]) => {
    const isBlocked = action === 'update_branch' && isConflicting(pullRequest);
    return toAction(action, isBlocked ? 'conflict' : undefined);
  });
  return [toAction('merge', findMergeBlock(pullRequest)), ...others];
}

/** Forges let authors close their pull requests. */
function listReaderActions({ foundBy, isOwn }: ActionCandidate): AllowedAction[] {
  const isAuthor = isOwn === true || foundBy?.includes('author') === true;
  return [toAction('merge', 'permission'), toAction('close', isAuthor ? undefined : 'permission')];
}

/** Finds the reason why a pull request can't be merged. @returns `undefined` when it can. */
export function findMergeBlock(pullRequest: ActionCandidate): BlockCode | undefined {
  return MERGE_RULES.find(([applies]) => applies(pullRequest))?.[1];
}

function toAction(action: BoardAction, code: BlockCode | undefined): AllowedAction {
  return code === undefined ? { action } : { action, blocked: { code, ...BLOCKS[code] } };
}

/** GitHub adds a pull request to a queue only when all its own requirements are met. */
function mayEnqueue(pullRequest: ActionCandidate): boolean {
  const { mergeQueueRequired, mergeQueue, draft, empty, stackedOn, mergeStatus, ci } = pullRequest;
  const isMet = ['mergeable', 'unstable'].includes(mergeStatus) || (mergeStatus === 'blocked' && ci !== 'failure');
  return mergeQueueRequired === true && !mergeQueue && !draft && !empty && stackedOn === null && isMet;
}

function mayAutoMerge(pullRequest: ActionCandidate): boolean {
  const isClean = pullRequest.mergeStatus === 'mergeable' && pullRequest.ci === 'success' && !pullRequest.behind;
  const isRefused = pullRequest.autoMergeAllowed === false || (pullRequest.forge === 'forgejo' && pullRequest.draft);
  const isQueued = pullRequest.mergeQueue !== undefined;
  const isHopeless = isQueued || pullRequest.empty || isConflicting(pullRequest) || pullRequest.stackedOn !== null;
  return pullRequest.autoMergeEnabled !== true && !isRefused && !isHopeless && !isClean;
}

function isConflicting({ mergeStatus }: ActionCandidate): boolean {
  return mergeStatus === 'conflicting';
}

function isDependabotOnGithub({ forge, bot }: ActionCandidate): boolean {
  return forge === 'github' && bot === 'dependabot';
}

/** Derives why the forge rejected an action from the state of the pull request after it. */
function explainRejection(action: ActionName, pullRequest: ActionCandidate): ActionErrorCode {
  return EXPLAINED[action]?.(pullRequest) ?? 'unknown';
}

type Explain = (pullRequest: ActionCandidate) => ActionErrorCode | undefined;

const conflict: Explain = ({ mergeStatus }) => (mergeStatus === 'conflicting' ? 'conflict' : undefined);

const mergeBlock: Explain = (pullRequest): BlockCode | undefined => findMergeBlock(pullRequest);

const EXPLAINED: Partial<Readonly<Record<ActionName, Explain>>> = {
  merge: mergeBlock,
  update_branch: (pullRequest) => conflict(pullRequest) ?? (pullRequest.behind ? undefined : 'already_up_to_date'),
  auto_merge: (pullRequest) => {
    if (pullRequest.autoMergeAllowed === false) return 'auto_merge_not_allowed';
    return conflict(pullRequest) ?? (findMergeBlock(pullRequest) === undefined ? 'ready_to_merge' : undefined);
  },
};
