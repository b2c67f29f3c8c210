import { AppError } from '@trellis/core/errors';
import { type Caller, requireUser } from '../../accounts/callers.js';
import type { Database } from '../../storage/database.js';
import type { BoardSnapshot } from '../boards/board.js';
import { type ForgeClients, requireForgeOf } from '../forges/forge-clients.js';
import { ForgeError } from '../forges/forge-error.js';
import {
  type ActionInput,
  type ActionName,
  type Check,
  type Forge,
  FORGE_PRODUCT_NAMES,
  type ForgeName,
  type PullRequest,
  type PullRequestDetails,
  pullRequestKey,
} from '../forges/forge.js';
import type { Refresher } from '../refresh/refresher.js';
import { actionConflict, assertActionAllowed, toActionError, toReadError } from './action-errors.js';
import { enableAutoMerge, fetchPullRequestRow } from './auto-merge.js';
import { hideFromBoard, isClosedAtForge, isPending, saveActionEffect } from './effects.js';
import { readLocalState } from './local-state.js';
import { type Attempts, type ActionOutcome, sendActionOnce } from './send-action-once.js';
import { deleteState, type PullRequestAddress } from './state-entries.js';

export interface ActionTarget {
  readonly forge: ForgeName;
  readonly fullName: string;
  readonly number: number;
  /** The head commit that the user has seen; the one on the board if omitted. */
  readonly headSha?: string;
}

/** Actions on pull requests, performed with the user's own credential. */
export interface Actions {
  /**
   * Performs an action, and updates the board with its result. Actions that the board marks as blocked or that are in
   * progress are rejected without a request to the forge, and no action is sent twice.
   *
   * @returns `queued` if the forge performs the action later.
   * @throws AppError with `action` details if the state of the pull request or the forge prevents the action,
   * `invalid_input` if there is no credential for the forge, the forge does not support the action, or no repository
   * of the forge can have the name.
   */
  perform(
    caller: Caller | undefined,
    target: ActionTarget,
    action: ActionName,
    input?: ActionInput,
  ): Promise<ActionResult>;
  /** Reads the checks of the newest commit from the forge. @throws AppError as `act`, without `action` details. */
  listChecks(caller: Caller | undefined, target: ActionTarget): Promise<Check[]>;
  /** Reads size, reviews, threads and comments from the forge. @throws AppError like {@link listChecks}. */
  readDetails(caller: Caller | undefined, target: ActionTarget): Promise<PullRequestDetails>;
}

interface ActionsOptions {
  readonly database: Database;
  readonly forges: Pick<ForgeClients, 'of'>;
  readonly refresher: Pick<Refresher, 'rebuildBoard' | 'refreshRepository'>;
  readonly attempts: Attempts;
  readonly now?: () => number;
}

/** `queued` if a bot or the forge performs the action later, for example after a comment. */
type ActionResult = 'done' | 'queued';

export function createActions({ forges, now = Date.now, ...options }: ActionsOptions): Actions {
  const { database } = options;
  const run = createActionRunner({ ...options, now });
  const getForge = async (personId: string, target: ActionTarget): Promise<Forge> =>
    requireForgeOf(await forges.of(personId), target);

  const rethrowReadError = (error: unknown): never => {
    throw error instanceof ForgeError ? toReadError(error, now()) : error;
  };

  return {
    async perform(caller, target, action, input = {}) {
      const { personId } = requireUser(caller);
      const forge = await getForge(personId, target);
      assertSupported(forge, action);
      assertInputSupported(forge, input);
      const { forge: name, fullName, number, headSha } = target;
      const requested = { personId, forge: name, fullName, number };
      const row = await findBoardRow(database, requested);
      if (row !== undefined) assertHead(row, headSha);
      // Forges ignore the case of names; the board has the forge's own spelling.
      const address = { ...requested, fullName: row?.repo ?? fullName };
      // Enabling auto-merge again succeeds. Cancelling always goes to the forge, which knows its current state.
      if (action === 'auto_merge' && row?.autoMergeEnabled === true) return 'done';
      if (row !== undefined && !DECIDED_BY_FORGE.has(action)) assertActionAllowed(row, action);
      return run({ forge, address, action, row, headSha, input });
    },
    async listChecks(caller, target) {
      const forge = await getForge(requireUser(caller).personId, target);
      const { fullName, number } = target;
      return forge.checks({ fullName, number }).catch(rethrowReadError);
    },
    async readDetails(caller, target) {
      const forge = await getForge(requireUser(caller).personId, target);
      const { fullName, number } = target;
      return forge.details({ fullName, number }).catch(rethrowReadError);
    },
  };
}

/** Actions that a board does not block. */
const DECIDED_BY_FORGE: ReadonlySet<ActionName> = new Set(['cancel_auto_merge', 'edit', 'review']);

/** @throws AppError `conflict` if the user has seen a different head commit. An empty one is unknown. */
function assertHead({ headSha }: PullRequest, seen: string | undefined): void {
  if (seen !== undefined && headSha !== '' && headSha !== seen) throw actionConflict('head_changed');
}

/** @throws AppError `invalid_input` for a review without a text, and for input that GitLab does not support. */
function assertInputSupported({ name }: Forge, { review, edit }: ActionInput): void {
  if (review !== undefined && review.verdict !== 'approve' && review.text === undefined)
    throw new AppError('invalid_input', 'Only an approval needs no text.', { field: 'text' });
  if (name !== 'gitlab') return;
  if (review?.verdict === 'request_changes')
    throw new AppError('invalid_input', 'GitLab does not support requests for changes.', { field: 'verdict' });
  const names = [...(edit?.reviewers?.add ?? []), ...(edit?.reviewers?.remove ?? [])];
  if (names.some((one) => one.includes('/')))
    throw new AppError('invalid_input', 'GitLab does not support teams as reviewers.', { field: 'reviewers' });
  const labels = [...(edit?.labels?.add ?? []), ...(edit?.labels?.remove ?? [])];
  if (labels.some((one) => one.includes(',')))
    throw new AppError('invalid_input', 'Labels of GitLab contain no commas.', { field: 'labels' });
}

/** @throws AppError `invalid_input` if neither the forge nor Trellis in its place supports the action. */
function assertSupported(forge: Forge, action: ActionName): void {
  if (forge.actions.includes(action) || isAutoMergeByTrellis(forge, action)) return;
  const message = `${FORGE_PRODUCT_NAMES[forge.name]} does not support the action "${action}".`;
  throw new AppError('invalid_input', message, { field: 'forge' });
}

/** Trellis performs auto-merges for Forgejo, because its API has no operation for them. */
function isAutoMergeByTrellis({ name }: Forge, action: ActionName): boolean {
  return name === 'forgejo' && (action === 'auto_merge' || action === 'cancel_auto_merge');
}

/** An action that has passed all checks that need no request to the forge. */
interface PreparedAction {
  readonly forge: Forge;
  readonly address: PullRequestAddress;
  readonly action: ActionName;
  /** The row on the board; `undefined` if the board does not list the pull request. */
  readonly row: PullRequest | undefined;
  /** @see ActionTarget.headSha */
  readonly headSha: string | undefined;
  readonly input: ActionInput;
}

type ActionRunner = (acted: PreparedAction) => Promise<ActionResult>;

/**
 * Creates a function that performs actions, saves their effects, and updates the board.
 *
 * @throws AppError if the forge rejects the action, or another attempt is in progress.
 */
function createActionRunner({
  database,
  refresher,
  attempts,
  now,
}: Omit<Required<ActionsOptions>, 'forges'>): ActionRunner {
  async function send({ forge, address, action, row, headSha: seen, input }: PreparedAction): Promise<ActionOutcome> {
    const requireDue = async (): Promise<void> => {
      const { personId, forge: name, fullName, number } = address;
      const { pullRequests } = await readLocalState(database, personId, now());
      const local = pullRequests.get(pullRequestKey(name, fullName, number));
      if (local !== undefined && isPending(action, local)) throw actionConflict('in_progress');
    };
    const keep = (outcome: ActionOutcome) => saveActionEffect(database, { address, action, outcome, row, at: now() });
    const headSha = seen ?? (row?.headSha === '' ? undefined : row?.headSha);
    return sendActionOnce({
      attempts,
      forge,
      address,
      action,
      headSha,
      input,
      now,
      assertDue: requireDue,
      saveEffect: keep,
    });
  }

  async function saveAutoMerge({ forge, address, action, row, headSha }: PreparedAction): Promise<ActionOutcome> {
    if (action === 'auto_merge') {
      const shown = row ?? (await fetchPullRequestRow(forge, address));
      if (row === undefined) {
        assertHead(shown, headSha);
        assertActionAllowed(shown, action);
      }
      await enableAutoMerge(database, address, shown.headSha);
    } else {
      await deleteState(database, address, 'auto_merge');
    }
    return 'done';
  }

  /** Ignores errors, because the board itself shows them. */
  async function updateBoard({ personId, forge, fullName }: PullRequestAddress): Promise<void> {
    await refresher.rebuildBoard(personId).catch(() => undefined);
    void refresher.refreshRepository(personId, forge, fullName).catch(() => undefined);
  }

  return async (acted) => {
    const { forge, address, action } = acted;
    try {
      const outcome = await (isAutoMergeByTrellis(forge, action) ? saveAutoMerge(acted) : send(acted));
      return outcome === 'queued' ? 'queued' : 'done';
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (isClosedAtForge(error)) await hideFromBoard(database, address, now());
      else if (isNothingToCancel(action, error)) return 'done';
      throw toActionError(error, now());
    } finally {
      // After errors too, because the board may have been out of date.
      await updateBoard(address);
    }
  };
}

function isNothingToCancel(action: ActionName, { kind, refusal }: ForgeError): boolean {
  return action === 'cancel_auto_merge' && kind === 'conflict' && refusal === 'unknown';
}

/** Returns the row of a pull request on a user's board. */
async function findBoardRow(database: Database, address: PullRequestAddress): Promise<PullRequest | undefined> {
  const { personId, forge, fullName, number } = address;
  const boards = database.selectFrom('boards').select('snapshot').where('person_id', '=', personId);
  const row = await boards.executeTakeFirst();
  if (row === undefined) return undefined;
  const { pullRequests } = JSON.parse(row.snapshot) as BoardSnapshot;
  const key = pullRequestKey(forge, fullName, number);
  return pullRequests.find((one) => pullRequestKey(one.forge, one.repo, one.number) === key);
}
