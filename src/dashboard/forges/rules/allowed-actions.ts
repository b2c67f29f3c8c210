import type { ActionName, ForgeName, PullRequest, PullRequestFacts } from '../facts.js';
import type { Bot } from './bots.js';

export type AllowedAction = PullRequest['allowedActions'][number];
export type ActionBlock = NonNullable<AllowedAction['blocked']>;
export type BlockCode = ActionBlock['code'];

/** What decides about actions: what the forge says, and what follows from it. */
export interface Judged extends PullRequestFacts, Pick<PullRequest, 'stackedOn'> {
  readonly forge: ForgeName;
  readonly bot: Bot | undefined;
}

type Rule = (one: Judged) => boolean;

const BLOCKS: Readonly<Record<BlockCode, Omit<ActionBlock, 'code'>>> = {
  already_up_to_date: { message: 'Merging would change nothing.', next: 'Close it.' },
  stacked: { message: 'It stands on another open pull request.', next: 'Merge that one first.' },
  conflict: { message: 'It conflicts with its base.', next: 'Resolve the conflicts.' },
  not_mergeable: { message: 'The forge would not merge it now.' },
  checks_pending: { message: 'Its checks are not done.', next: 'Wait for them, or turn on auto-merge.' },
  behind: { message: 'It lacks commits of its base.', next: 'Update its branch.' },
  checks_failing: { message: 'Its checks fail.', next: 'Fix what they found, or run them again.' },
  blocked_by_protection: { message: 'Rules of the base are not met.', next: 'See what it lacks at the forge.' },
};

const isNotMergeable: Rule = ({ mergeStatus }) => mergeStatus !== 'mergeable';

/** In this order; the first that holds decides about merging, and when none does it is allowed. */
const MERGE_RULES: readonly (readonly [Rule, BlockCode | undefined])[] = [
  [({ empty }) => empty, 'already_up_to_date'],
  [({ stackedOn }) => stackedOn !== null, 'stacked'],
  [isConflicting, 'conflict'],
  [({ draft }) => draft, 'not_mergeable'],
  // Only checks that aren't required fail or run: the forge would merge, whatever they say.
  [({ mergeStatus }) => mergeStatus === 'unstable', undefined],
  [({ ci }) => ci === 'pending', 'checks_pending'],
  [(one) => one.behind && isNotMergeable(one), 'behind'],
  [({ mergeStatus, ci }) => mergeStatus === 'blocked' && ci === 'failure', 'checks_failing'],
  [({ mergeStatus }) => mergeStatus === 'blocked', 'blocked_by_protection'],
  [isNotMergeable, 'not_mergeable'],
];

/** The other actions are there when these hold, and left out otherwise. */
const OFFERED: readonly (readonly [ActionName, Rule])[] = [
  ['close', () => true],
  ['update_branch', ({ behind, empty, bot }) => behind && !empty && bot === undefined],
  ['auto_merge', (one) => mayAutoMerge(one)],
  ['cancel_auto_merge', ({ forge, autoMergeEnabled }) => forge !== 'github' && autoMergeEnabled === true],
  ['dependabot_rebase', isDependabotOnGithub],
  ['dependabot_recreate', isDependabotOnGithub],
  ['renovate_rebase', ({ bot }) => bot === 'renovate'],
  ['rerun_checks', ({ ci }) => ci === 'failure'],
];

/** Says what can be done to a pull request, and why not; merging comes first. */
export function listAllowedActions(one: Judged): AllowedAction[] {
  const others = OFFERED.filter(([, isOffered]) => isOffered(one)).map(([action]) => {
    const isBlocked = action === 'update_branch' && isConflicting(one);
    return toAction(action, isBlocked ? 'conflict' : undefined);
  });
  return [toAction('merge', findMergeBlock(one)), ...others];
}

/** @returns `undefined` when it can be merged. */
export function findMergeBlock(one: Judged): BlockCode | undefined {
  return MERGE_RULES.find(([holds]) => holds(one))?.[1];
}

function toAction(action: ActionName, code: BlockCode | undefined): AllowedAction {
  return code === undefined ? { action } : { action, blocked: { code, ...BLOCKS[code] } };
}

function mayAutoMerge(one: Judged): boolean {
  const isClean = one.mergeStatus === 'mergeable' && one.ci === 'success' && !one.behind;
  const isRefused = one.autoMergeAllowed === false || (one.forge === 'forgejo' && one.draft);
  const isHopeless = one.empty || isConflicting(one) || one.stackedOn !== null;
  return one.autoMergeEnabled !== true && !isRefused && !isHopeless && !isClean;
}

function isConflicting({ mergeStatus }: Judged): boolean {
  return mergeStatus === 'conflicting';
}

function isDependabotOnGithub({ forge, bot }: Judged): boolean {
  return forge === 'github' && bot === 'dependabot';
}
