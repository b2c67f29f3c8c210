import { AppError, type ErrorCode, type ErrorDetails } from '@trellis/core/errors';
import type { components } from '../../generated/dashboard/types.js';
import {
  type ActionErrorCode,
  FORGE_ERROR_MESSAGES,
  type ForgeError,
  type ForgeErrorKind,
} from '../forges/forge-error.js';
import type { ActionName, PullRequest } from '../forges/forge.js';

type Schemas = components['schemas'];
type Code = Schemas['ActionErrorCode'];

/** Messages for users. The texts of a forge are a member of their own. The other codes use the message of the error kind. */
const MESSAGES: Readonly<Record<Exclude<Code, 'permission' | 'rate_limited' | 'unknown'>, string>> = {
  already_merged: 'The pull request is already merged.',
  already_closed: 'The pull request is already closed.',
  already_up_to_date: 'There are no commits to merge.',
  auto_merge_not_allowed: 'The repository does not allow auto-merge.',
  behind: 'The branch is out of date with its base.',
  blocked_by_protection: 'Branch protection rules are not met.',
  checks_failing: 'Checks are failing.',
  checks_pending: 'Checks are still running.',
  conflict: 'It conflicts with its base.',
  in_progress: 'This action is already in progress.',
  head_changed: 'The branch has new commits since the board was read.',
  label_missing: 'The repository has no label with the name in your settings.',
  merge_queue: 'Its base merges through a queue. Add it to the merge queue.',
  method_not_allowed: 'The repository does not allow this merge method.',
  not_mergeable: "The forge reports that it can't be merged now.",
  ready_to_merge: 'The pull request can be merged now, without auto-merge.',
  rule_violation: 'The rules of the repository are not met.',
  stacked: 'It is stacked on another open pull request.',
};

const CODE_OF_KIND: Readonly<Record<ForgeErrorKind, ErrorCode>> = {
  unauthorized: 'forbidden',
  not_found: 'not_found',
  rate_limited: 'rate_limited',
  conflict: 'conflict',
  unreachable: 'bad_gateway',
  address_refused: 'bad_gateway',
  unknown: 'bad_gateway',
};

/** Creates an error for an action that the pull request's state, or a concurrent attempt, does not allow. */
export function actionConflict(code: Code, message = messageFor(code, 'conflict')): AppError {
  return new AppError('conflict', message, { details: toDetails(message, { code }) });
}

/** Converts the error of a failed action. */
export function toActionError(error: ForgeError, at: number): AppError {
  const { kind, refusal, resetsAt, needs, words } = error;
  const code = refusal ?? toActionCode(kind);
  const known = kind === 'rate_limited' && resetsAt !== undefined ? { resetsAt: new Date(resetsAt).toISOString() } : {};
  const message = needs === undefined ? messageFor(code, kind) : error.message;
  return new AppError(toErrorCode(kind, code), message, {
    details: toDetails(message, { code, ...known, ...(words !== undefined && { forgeMessage: words }) }),
    headers: retryAfter(error, at),
    cause: error,
  });
}

/** Returns the members that the schema `ActionError` adds to those of every error. The message repeats the text. */
function toDetails(
  message: string,
  reason: Pick<Schemas['ActionError'], 'code' | 'forgeMessage' | 'resetsAt'>,
): ErrorDetails {
  return { message, ...reason };
}

/** Converts the error of a failed read, which has no action code. */
export function toReadError(error: ForgeError, at: number): AppError {
  const code = error.kind === 'conflict' ? 'bad_gateway' : CODE_OF_KIND[error.kind];
  return new AppError(code, error.message, { headers: retryAfter(error, at), cause: error });
}

/** Returns the message for an action code; for `unknown`, that of the error kind. */
export function messageFor(code: Code, kind: ForgeErrorKind): string {
  if (code === 'permission') return FORGE_ERROR_MESSAGES.unauthorized;
  if (code === 'rate_limited') return FORGE_ERROR_MESSAGES.rate_limited;
  return code === 'unknown' ? FORGE_ERROR_MESSAGES[kind] : MESSAGES[code];
}

export function toActionCode(kind: ForgeErrorKind): ActionErrorCode {
  if (kind === 'unauthorized') return 'permission';
  return kind === 'rate_limited' ? 'rate_limited' : 'unknown';
}

/** Returns `conflict` for reasons in the pull request itself, whatever the kind of the forge's error. */
function toErrorCode(kind: ForgeErrorKind, code: ActionErrorCode): ErrorCode {
  if (code === 'label_missing') return 'not_found';
  return code === 'unknown' || code === 'permission' || code === 'rate_limited' ? CODE_OF_KIND[kind] : 'conflict';
}

/** Uses seconds rather than a date, so that the client's clock does not matter. */
function retryAfter({ kind, resetsAt }: ForgeError, at: number): Record<string, string> {
  if (kind !== 'rate_limited') return {};
  // Forges that report no reset time usually require a pause of at least a minute.
  const milliseconds = resetsAt === undefined ? 60_000 : resetsAt - at;
  return { 'Retry-After': String(Math.max(Math.ceil(milliseconds / 1000), 1)) };
}

/** @throws AppError `conflict` with the reason, if the board does not allow the action. */
export function assertActionAllowed(row: PullRequest, action: ActionName): void {
  const offered = row.allowedActions.find((one) => one.action === action);
  if (offered?.blocked !== undefined) throw actionConflict(offered.blocked.code, offered.blocked.message);
  if (offered === undefined && row.readOnly === true) throw actionConflict('permission');
  if (offered === undefined) throw (REASONS[action] ?? unexplained)(row);
}

/** The reasons why a board omits an action, in the order of the rules. */
const REASONS: Readonly<Partial<Record<ActionName, (row: PullRequest) => Error>>> = {
  auto_merge: (row) => actionConflict(findAutoMergeCode(row)),
  enqueue: () => actionConflict('unknown', 'This pull request cannot be added to a merge queue now.'),
  dequeue: () => actionConflict('unknown', 'This pull request is not in a merge queue.'),
  update_branch: ({ behind, empty }) =>
    !behind || empty
      ? actionConflict('already_up_to_date')
      : actionConflict('unknown', 'A bot maintains this branch. Ask the bot to rebase it.'),
  rerun_checks: ({ ci }) =>
    ci === 'pending' ? actionConflict('checks_pending') : actionConflict('unknown', 'No check has failed.'),
  dependabot_rebase: () => actionConflict('unknown', 'This pull request is not from Dependabot.'),
  dependabot_recreate: () => actionConflict('unknown', 'This pull request is not from Dependabot.'),
  renovate_rebase: () => actionConflict('unknown', 'This pull request is not from Renovate.'),
};

function unexplained(): Error {
  return actionConflict('unknown', 'This action is not available for this pull request.');
}

function findAutoMergeCode(row: PullRequest): Code {
  if (row.autoMergeAllowed === false) return 'auto_merge_not_allowed';
  if (row.empty) return 'already_up_to_date';
  if (row.mergeStatus === 'conflicting') return 'conflict';
  if (row.stackedOn !== null) return 'stacked';
  return row.draft ? 'not_mergeable' : 'ready_to_merge';
}
