/** What the forges have in common where they are told to do something. */
import type { ActionName } from './facts.js';
import { ForgeError, toForgeError } from './forge-error.js';
import type { RefusalCode } from './forge-error.js';
import type { Forge } from './forge.js';
import type { Judged } from './rules/allowed-actions.js';
import { explainRefusal } from './rules/refusals.js';

export type Outcome = Awaited<ReturnType<Forge['act']>>;

/** What is sent for each action, at most once. */
export type Steps<Doing> = Readonly<Partial<Record<ActionName, (doing: Doing) => Promise<Outcome>>>>;

export interface Acting<Doing> {
  readonly steps: Steps<Doing>;
  /** Reads the pull request as it is now; throws ForgeError `not_found` when there is none. */
  readonly read: () => Promise<Doing>;
  readonly findClosed: (doing: Doing) => RefusalCode | undefined;
  readonly judge: (doing: Doing) => Judged | Promise<Judged>;
}

/** @see Forge.act */
export async function actOnce<Doing>(acting: Acting<Doing>, action: ActionName): Promise<Outcome> {
  const step = acting.steps[action];
  if (step === undefined) throw new ForgeError('unknown', { refusal: 'unknown' });
  const doing = await acting.read();
  const closed = acting.findClosed(doing);
  if (closed !== undefined) throw new ForgeError('conflict', { refusal: closed });
  try {
    return await step(doing);
  } catch (error) {
    const { kind, status, resetsAt, cause, refusal } = toForgeError(error);
    if (refusal !== undefined) throw error;
    throw new ForgeError(kind, { status, resetsAt, cause, refusal: await findRefusal(acting, action, kind) });
  }
}

/** The reason is read off the pull request as it is after the refusal, not off the forge's words. */
async function findRefusal<Doing>(
  { read, findClosed, judge }: Acting<Doing>,
  action: ActionName,
  kind: ForgeError['kind'],
): Promise<RefusalCode> {
  if (kind === 'rate_limited') return 'rate_limited';
  if (kind === 'unauthorized') return 'permission';
  if (kind !== 'conflict') return 'unknown';
  try {
    const doing = await read();
    return findClosed(doing) ?? explainRefusal(action, await judge(doing));
  } catch {
    return 'unknown';
  }
}

export async function done(sent: Promise<unknown>): Promise<'done'> {
  await sent;
  return 'done';
}

/** Of what the forge does after it answered. */
export async function queued(sent: Promise<unknown>): Promise<'queued'> {
  await sent;
  return 'queued';
}
