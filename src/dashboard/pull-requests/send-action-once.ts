import { randomUUID } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../../storage/database.js';
import { ForgeError } from '../forges/forge-error.js';
import type { ActionInput, ActionName, Forge, ForgePullRequest, PullRequest } from '../forges/forge.js';
import { actionConflict } from './action-errors.js';
import { type PullRequestAddress, toPullRequestRow } from './state-entries.js';

export type ActionOutcome = Awaited<ReturnType<Forge['act']>>;

interface ActionRequest {
  readonly attempts: Attempts;
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  /** The head commit on the board. */
  readonly headSha: string | undefined;
  readonly input?: ActionInput;
  readonly now: () => number;
  /** Checks, while no other attempt can run, whether the action is still to be sent; throws if it is not. */
  readonly assertDue: () => Promise<void>;
  /** Saves the effects of the action. If the process dies before that, the outcome counts as unknown. */
  readonly saveEffect: (outcome: ActionOutcome) => Promise<void>;
}

/** Thrown if an action is no longer to be sent. */
export class ActionNotDueError extends Error {}

/**
 * Sends an action to a forge at most once. If the outcome of an earlier attempt is unknown, the state at the forge is
 * checked first, and an action that succeeded is not sent again.
 *
 * @throws AppError `conflict` while another attempt is in progress, or if the outcome of an earlier one can't be
 * determined yet; ForgeError if the forge rejects the action.
 */
export async function sendActionOnce(sending: ActionRequest): Promise<ActionOutcome> {
  const { attempts, address, action, headSha } = sending;
  const attempt = await attempts.begin(address, action, headSha);
  let isKnown = attempt.unconfirmed === undefined;
  try {
    await sending.assertDue();
    const before = attempt.unconfirmed && (await checkOutcomeAtForge(sending, attempt.unconfirmed));
    isKnown = false;
    const outcome =
      before ??
      (await send(sending, attempt).catch((error: unknown) => {
        isKnown = !isOutcomeUnknown(error);
        throw error;
      }));
    await sending.saveEffect(outcome);
    isKnown = true;
    return outcome;
  } finally {
    await (isKnown ? attempt.complete() : attempt.leaveUnconfirmed());
  }
}

async function send(
  { forge, address, action, headSha, input }: ActionRequest,
  attempt: Attempt,
): Promise<ActionOutcome> {
  if (attempt.unconfirmed !== undefined) await attempt.restart();
  const { fullName, number } = address;
  return forge.act({ fullName, number, headSha, ...input }, action).catch((error: unknown) => {
    if (attempt.unconfirmed !== undefined && isDone(error, action)) return 'done';
    throw error;
  });
}

/** Returns whether the error shows that an earlier attempt succeeded. */
function isDone(error: unknown, action: ActionName): boolean {
  const refusal = error instanceof ForgeError ? error.refusal : undefined;
  return (action === 'merge' && refusal === 'already_merged') || (action === 'close' && refusal === 'already_closed');
}

/** Returns whether the forge may have performed the action despite the error. @see Forge.act */
function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof ForgeError)) return true;
  const { kind, refusal, status = 0 } = error;
  return refusal !== undefined && (kind === 'unreachable' || (kind === 'unknown' && !isRejection(status)));
}

/** 408 may come from a proxy that has passed the request on. */
const isRejection = (status: number): boolean => status >= 400 && status < 500 && status !== 408;

/** How long a bot may take to react to a comment. */
const COMMENT_MS = 600_000;

/** Returns whether the action succeeded; `undefined` if that is not certain yet. */
type OutcomeCheck = (now: ForgePullRequest, lost: UnconfirmedAttempt, at: number) => boolean | undefined;

/** A lost comment and a comment that the bot has not processed yet look the same. */
const commandOutcome: OutcomeCheck = (now, lost, at) =>
  hasMoved(now, lost) || (at < lost.startedAt + COMMENT_MS ? undefined : false);

/** The other actions need no check, because sending them again fails if they succeeded, or has no effect. */
const OUTCOME_CHECKS: Readonly<Partial<Record<ActionName, OutcomeCheck>>> = {
  update_branch: (now, lost) => hasMoved(now, lost) || !now.behind,
  rerun_checks: (now, lost) => hasMoved(now, lost) || now.ci !== 'failure',
  auto_merge: ({ autoMergeEnabled }) => autoMergeEnabled === true,
  cancel_auto_merge: ({ autoMergeEnabled }) => autoMergeEnabled === false,
  enqueue: ({ mergeQueue }) => mergeQueue !== undefined,
  dequeue: ({ mergeQueue }) => mergeQueue === undefined,
  // Adding a label again has no effect.
  renovate_rebase: hasMoved,
  dependabot_rebase: commandOutcome,
  dependabot_recreate: commandOutcome,
  review: (_now, lost, at) => (at < lost.startedAt + COMMENT_MS ? undefined : false),
};

/**
 * Checks at the forge whether an attempt without a response succeeded.
 *
 * @returns `undefined` if it did not, so that the action may be sent again.
 * @throws AppError `conflict` (`unknown`) if that is not certain yet.
 */
async function checkOutcomeAtForge(
  sending: ActionRequest,
  lost: UnconfirmedAttempt,
): Promise<ActionOutcome | undefined> {
  const { forge, address, action, now } = sending;
  const check = OUTCOME_CHECKS[action];
  if (check === undefined) return undefined;
  const reading = await forge.readRepository(address.fullName);
  const facts = reading?.pullRequests.find(({ number }) => number === address.number);
  // The forge itself rejects actions on pull requests that are not open.
  if (facts === undefined) return undefined;
  const isDone = check(facts, lost, now());
  if (isDone !== undefined) return isDone ? 'done' : undefined;
  throw actionConflict('unknown', "The forge didn't respond. The outcome will show on the board within 10 minutes.");
}

function hasMoved({ headSha }: ForgePullRequest, lost: UnconfirmedAttempt): boolean {
  return lost.headSha !== undefined && headSha !== '' && headSha !== lost.headSha;
}

/** A pull request after a refresh, as input of the automation. */
export interface AutomationInput {
  readonly database: Database;
  readonly attempts: Attempts;
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly row: PullRequest;
  readonly now: () => number;
}

/** The result of an automatic action. */
type AutomaticResult = 'not sent' | 'sent' | { readonly refused: ForgeError };

/** Sends an action without a user's request. Does nothing if another attempt is in progress, or was meanwhile. */
export async function sendAutomaticAction(
  { attempts, forge, address, row, now }: AutomationInput,
  action: ActionName,
  { assertDue, saveEffect }: Pick<ActionRequest, 'saveEffect' | 'assertDue'>,
): Promise<AutomaticResult> {
  const headSha = row.headSha === '' ? undefined : row.headSha;
  try {
    await sendActionOnce({ attempts, forge, address, action, headSha, now, assertDue, saveEffect });
    return 'sent';
  } catch (error) {
    if (error instanceof ForgeError) return { refused: error };
    if (error instanceof ActionNotDueError || error instanceof AppError) return 'not sent';
    throw error;
  }
}

/** Renewed while an action is sent. After a crash, other attempts wait at most this long. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

/** The board shows the outcome long before that. */
const RETENTION_MS = 86_400_000;

/** An earlier attempt that may have been sent, with an unknown outcome. */
interface UnconfirmedAttempt {
  /** The head commit at that time, if it was known. */
  readonly headSha: string | undefined;
  readonly startedAt: number;
}

/** The exclusive right, across all processes, to send one action. */
interface Attempt {
  readonly unconfirmed: UnconfirmedAttempt | undefined;
  /** Replaces the record of an unconfirmed attempt by this one, before the action is sent again. */
  restart(): Promise<void>;
  /** Ends the attempt with a known outcome. */
  complete(): Promise<void>;
  /** Ends the attempt with an unknown outcome, which the next attempt has to check first. */
  leaveUnconfirmed(): Promise<void>;
}

/** The actions that are being sent to forges: at most one attempt at a time per action and pull request. */
export interface Attempts {
  /** @throws AppError `conflict` (`in_progress`) while another attempt is in progress. */
  begin(address: PullRequestAddress, action: ActionName, headSha: string | undefined): Promise<Attempt>;
}

export function createAttempts(database: Database, now: () => number = Date.now): Attempts {
  return {
    async begin(address, action, headSha) {
      const key = { ...toPullRequestRow(address), action };
      const claim = randomUUID();
      const lost = await claimAttempt(database, { key, claim, headSha, at: now() });
      const own = database.updateTable('action_attempts').where('claim', '=', claim);
      const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_MS).unref();
      const renew = () => own.set({ lease_until: now() + LEASE_MS }).execute();
      return {
        unconfirmed: lost,
        async restart() {
          await own.set({ head_sha: headSha ?? null, began_at: now() }).execute();
        },
        async complete() {
          clearInterval(renewal);
          await database.deleteFrom('action_attempts').where('claim', '=', claim).execute();
        },
        async leaveUnconfirmed() {
          clearInterval(renewal);
          await own.set({ lease_until: now() }).execute();
        },
      };
    },
  };
}

interface Claim {
  readonly key: ReturnType<typeof toPullRequestRow> & { readonly action: ActionName };
  readonly claim: string;
  readonly headSha: string | undefined;
  readonly at: number;
}

/** @returns the previous attempt if its outcome is unknown. */
async function claimAttempt(
  database: Database,
  { key, claim, headSha, at }: Claim,
): Promise<UnconfirmedAttempt | undefined> {
  return inTransaction(database, async (transaction) => {
    const found = await transaction
      .selectFrom('action_attempts')
      .select(['head_sha', 'began_at', 'lease_until'])
      .where((is) => is.and(key))
      .executeTakeFirst();
    if (found !== undefined && found.lease_until > at) throw actionConflict('in_progress');
    const lease = { claim, lease_until: at + LEASE_MS };
    await transaction
      .insertInto('action_attempts')
      .values({ ...key, ...lease, head_sha: headSha ?? null, began_at: at })
      .onConflict((conflict) => conflict.columns(['person_id', 'forge', 'repo', 'number', 'action']).doUpdateSet(lease))
      .execute();
    return found && { headSha: found.head_sha ?? undefined, startedAt: found.began_at };
  });
}

/** Deletes unconfirmed attempts that are too old to matter. */
export async function deleteExpiredAttempts(database: Database, at: number): Promise<void> {
  await database
    .deleteFrom('action_attempts')
    .where('lease_until', '<=', at - RETENTION_MS)
    .execute();
}
