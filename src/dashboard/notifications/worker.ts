/** Sends notifications in the background, in every server; each message is claimed by one of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import { ForgeError } from '../forges/forge-error.js';
import type { Forge, ForgeName, PullRequestOutcome } from '../forges/forge.js';
import { decryptAddress, deleteChannel, toCode } from './channels.js';
import type { PullRequestEvent } from './events.js';
import type { Message } from './messages.js';
import {
  type ClaimedDelivery,
  claimDueDeliveries,
  collectDueEvents,
  createDueDigests,
  endAttempt,
  renewDelivery,
} from './outbox.js';
import type { Senders, ChannelKind } from './senders.js';
import { DeliveryError } from './transports.js';

interface NotificationWorkerOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly senders: Pick<Senders, 'send'>;
  /** Returns the forges for which a user has a credential. */
  readonly getForges: (personId: string) => Promise<ReadonlyMap<ForgeName, Forge>>;
  /** Receives errors other than those of receivers. */
  readonly report: (error: unknown) => void;
  readonly lookMs?: number;
  readonly now: () => number;
}

export interface NotificationWorker {
  /** Starts to look for due work. It does not keep the process alive. */
  readonly start: () => void;
  /** Looks at once. */
  readonly wake: () => void;
  /** Makes one attempt to send a claimed delivery, and stores the outcome. @param isLast Whether an error is final. */
  attempt(delivery: ClaimedDelivery, isLast?: boolean): Promise<void>;
  /** Stops, and waits for the attempts in progress, which are then not repeated. */
  close(): Promise<void>;
}

/** Batches are counted in minutes, so nobody notices these seconds. */
const LOOK_MS = 5_000;

/** Receivers that do not respond must not hold up all others. */
const MAX_CONCURRENT = 16;

/** Longer than most attempts. Those that take longer are repeated with the same id. */
const CLOSE_MS = 5_000;

export function createNotificationWorker(options: NotificationWorkerOptions): NotificationWorker {
  const { database, senders, key, report, lookMs = LOOK_MS, now } = options;
  const closed = new AbortController();
  const inProgress = new Set<Promise<void>>();
  let running: Promise<void> | undefined;
  let confirming: Promise<void> | undefined;
  let wakeUp = new AbortController();
  const wake = (): void => wakeUp.abort();

  async function attempt(delivery: ClaimedDelivery, isLast = false): Promise<void> {
    const renewing = setInterval(() => {
      if (!closed.signal.aborted) void renewDelivery(database, delivery, now()).catch(report);
    }, lookMs);
    const error = await send(delivery).then(
      () => undefined,
      (reason: unknown) => toDeliveryError(reason, report),
    );
    clearInterval(renewing);
    await inTransaction(database, async (transaction) => {
      await endAttempt(transaction, delivery, { error, isLast, at: now() });
      const { channel_id: id, person_id: personId } = delivery;
      if (error?.isGone === true) await deleteChannel(transaction, { id, personId, at: now() });
    });
  }

  async function send({ id, channel_id, message: text, created_at }: ClaimedDelivery): Promise<void> {
    const channel = await database
      .selectFrom('notification_channels')
      .select(['id', 'sealed'])
      .where('id', '=', channel_id)
      .executeTakeFirst();
    if (channel === undefined) throw new DeliveryError('The channel was deleted.', { isPermanent: true });
    const message = JSON.parse(text) as Message;
    const code = message.kind === 'confirmation' ? toCode(key, channel_id) : undefined;
    await senders.send(decryptAddress(key, channel), { id, createdAt: created_at, message, ...(code && { code }) });
  }

  async function startDeliveries(): Promise<boolean> {
    const most = MAX_CONCURRENT - inProgress.size;
    const claimed = most > 0 ? await claimDueDeliveries(database, { at: now(), most }) : [];
    for (const delivery of claimed) {
      const ended = attempt(delivery)
        .catch(report)
        .finally(() => inProgress.delete(ended));
      inProgress.add(ended);
      // A free place may be for a message that waits.
      void ended.then(wake);
    }
    return claimed.length > 0;
  }

  /** Asks forges in the background, as those that do not respond must not hold up messages. */
  function startConfirming(at: number): void {
    confirming ??= confirmDueEvents(options, at, closed.signal)
      .then((count) => {
        if (count > 0) wake();
      }, report)
      .finally(() => {
        confirming = undefined;
      });
  }

  async function runDue(): Promise<void> {
    const at = now();
    await createDueDigests(database, at);
    startConfirming(at);
    while (!closed.signal.aborted && (await collectDueEvents(database, at)));
    await startDeliveries();
  }

  async function run(): Promise<void> {
    while (!closed.signal.aborted) {
      wakeUp = new AbortController();
      await runDue().catch(report);
      const signal = AbortSignal.any([wakeUp.signal, closed.signal]);
      await sleep(lookMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  return {
    start: () => {
      running ??= run();
    },
    wake,
    attempt,
    async close() {
      closed.abort();
      await running;
      await Promise.race([Promise.all([...inProgress, confirming]), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

function toDeliveryError(error: unknown, report: (error: unknown) => void): DeliveryError {
  if (error instanceof DeliveryError) return error;
  report(error);
  return new DeliveryError('Internal error. The log of the server has the cause.', { cause: error });
}

/** How soon a forge that didn't respond is asked again, and for how long. */
const CONFIRM_AGAIN_MS = 300_000;
const CONFIRM_FOR_MS = 86_400_000;

/** The number of requests to forges in one pass. */
const MAX_CONFIRMED = 50;

/**
 * Asks the forges whether the pull requests that are no longer open were merged, and deletes the events of others.
 *
 * @returns the number of events that were due.
 */
async function confirmDueEvents(options: NotificationWorkerOptions, at: number, signal: AbortSignal): Promise<number> {
  const { database } = options;
  const due = await database
    .selectFrom('notification_events')
    .select(['person_id', 'event_key', 'event'])
    .distinct()
    .where('is_unconfirmed', '=', 1)
    .where('due_at', '<=', at)
    .limit(MAX_CONFIRMED)
    .execute();
  for (const { person_id: personId, event_key: key, event } of due) {
    const state = await readState(personId, JSON.parse(event) as PullRequestEvent, options);
    if (signal.aborted) break;
    await inTransaction(database, (transaction) => saveState(transaction, { personId, key }, { state, at }));
  }
  return due.length;
}

interface EventRows {
  readonly personId: string;
  readonly key: string;
}

/** Confirms an event, deletes it, or postpones it if the forge could not be asked. */
async function saveState(
  transaction: Database,
  { personId, key }: EventRows,
  { state, at }: { readonly state: PullRequestOutcome | undefined; readonly at: number },
): Promise<void> {
  const expired = transaction
    .deleteFrom('notification_events')
    .where('person_id', '=', personId)
    .where('event_key', '=', key)
    .where('is_unconfirmed', '=', 1);
  if (state === 'open' || state === 'closed') await expired.execute();
  else await expired.where('created_at', '<', at - CONFIRM_FOR_MS).execute();
  await transaction
    .updateTable('notification_events')
    .set(state === 'merged' ? { is_unconfirmed: 0 } : { due_at: at + CONFIRM_AGAIN_MS })
    .where('person_id', '=', personId)
    .where('event_key', '=', key)
    .where('is_unconfirmed', '=', 1)
    .execute();
}

/** Reads the state of a pull request. @returns `undefined` if the forge can't be reached. */
async function readState(
  personId: string,
  { forge: name, repo: fullName, number }: PullRequestEvent,
  { getForges, report }: Pick<NotificationWorkerOptions, 'getForges' | 'report'>,
): Promise<PullRequestOutcome | undefined> {
  try {
    const forges = await getForges(personId);
    return await forges.get(name)?.readState({ fullName, number });
  } catch (error) {
    if (error instanceof ForgeError) return error.kind === 'not_found' ? 'closed' : undefined;
    // The event is asked about again later. An error of one user must not hold up the messages of others.
    report(error);
    return undefined;
  }
}

type NotificationJobs = components['schemas']['NotificationJobs'];

const DAY_MS = 86_400_000;

/** Returns the queue of notifications of all servers, with the first `most` messages. */
export async function readNotificationQueue(
  database: Database,
  { at, most }: { readonly at: number; readonly most: number },
): Promise<NotificationJobs> {
  const counted = database.selectFrom('notification_deliveries').select(({ fn }) => fn.countAll<number>().as('count'));
  const waiting = await counted.where('state', '=', 'waiting').executeTakeFirstOrThrow();
  const failed = await counted
    .where('state', '=', 'failed')
    .where('ended_at', '>', at - DAY_MS)
    .executeTakeFirstOrThrow();
  const collecting = await database
    .selectFrom('notification_events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('due_at', 'is not', null)
    .executeTakeFirstOrThrow();
  const rows = await database
    .selectFrom('notification_deliveries')
    .innerJoin('people', 'people.id', 'notification_deliveries.person_id')
    .select(['username', 'channel_kind', 'attempts', 'next_at', 'lease_until', 'error'])
    .where('state', '=', 'waiting')
    .orderBy('next_at')
    .limit(most)
    .execute();
  return {
    collecting: collecting.count,
    waiting: waiting.count,
    failed: failed.count,
    deliveries: rows.map(({ username, channel_kind, attempts, next_at, lease_until, error }) => ({
      username,
      // Only values of the contract are stored.
      kind: channel_kind as ChannelKind,
      state: lease_until > at ? ('sending' as const) : ('waiting' as const),
      attempts,
      nextAttemptAt: new Date(next_at).toISOString(),
      ...(error !== null && { error }),
    })),
  };
}
