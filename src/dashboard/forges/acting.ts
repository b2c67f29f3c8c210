/** Shared steps for performing an action on a pull request at a forge. */
import type { ActionName } from './facts.js';
import { ForgeError, toForgeError } from './forge-error.js';
import type { RefusalCode } from './forge-error.js';
import type { Forge } from './forge.js';
import type { Judged } from './rules/allowed-actions.js';
import { explainRefusal } from './rules/refusals.js';

export type Outcome = Awaited<ReturnType<Forge['act']>>;

/** The request of each supported action. Each is sent at most once. */
export type Steps<Context> = Readonly<Partial<Record<ActionName, (context: Context) => Promise<Outcome>>>>;

export interface Acting<Context> {
  readonly steps: Steps<Context>;
  /** Reads the current state of the pull request. Throws ForgeError `not_found` when it does not exist. */
  readonly read: () => Promise<Context>;
  readonly findClosed: (context: Context) => RefusalCode | undefined;
  readonly judge: (context: Context) => Judged | Promise<Judged>;
}

/** @see Forge.act */
export async function actOnce<Context>(acting: Acting<Context>, action: ActionName): Promise<Outcome> {
  const send = acting.steps[action];
  if (send === undefined) throw new ForgeError('unknown', { refusal: 'unknown' });
  const context = await acting.read();
  const closed = acting.findClosed(context);
  if (closed !== undefined) throw new ForgeError('conflict', { refusal: closed });
  try {
    return await send(context);
  } catch (error) {
    const { kind, status, resetsAt, cause, refusal } = toForgeError(error);
    if (refusal !== undefined) throw error;
    throw new ForgeError(kind, { status, resetsAt, cause, refusal: await findRefusal(acting, action, kind) });
  }
}

/**
 * Derives the reason from the current state of the pull request, as the error messages of forges are not a stable API.
 */
async function findRefusal<Context>(
  { read, findClosed, judge }: Acting<Context>,
  action: ActionName,
  kind: ForgeError['kind'],
): Promise<RefusalCode> {
  if (kind === 'rate_limited') return 'rate_limited';
  if (kind === 'unauthorized') return 'permission';
  if (kind !== 'conflict') return 'unknown';
  try {
    const context = await read();
    return findClosed(context) ?? explainRefusal(action, await judge(context));
  } catch {
    return 'unknown';
  }
}

/** Resolves to `done` for an action that is complete when the forge has responded. */
export async function done(sent: Promise<unknown>): Promise<'done'> {
  await sent;
  return 'done';
}

/** Resolves to `queued` for an action that the forge performs after its response. */
export async function queued(sent: Promise<unknown>): Promise<'queued'> {
  await sent;
  return 'queued';
}
