import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../storage/database.js';
import { markWebhookSeen } from '../actions/keep-marks.js';
import type { RepositoryAddress } from '../actions/keep-marks.js';
import type { ForgeName } from '../forges/facts.js';
import type { DeliveredEvent } from '../forges/forge.js';
import type { Refresher } from '../refresh/refresher.js';
import { isFollowed } from './followed.js';
import { spaced } from './spaced.js';

/** A change is seen at once; a pipeline that tells of every step for an hour costs some 120 looks at its repository. */
const REPOSITORY_SPACING = { firstMs: 2_000, mostMs: 32_000 };

/** A whole board takes dozens of requests. */
const BOARD_SPACING = { firstMs: 30_000, mostMs: 900_000 };

/** A webhook of an organization tells of repositories that are on no board; they are not looked for again this long. */
const UNKNOWN_MS = 3_600_000;
const MAX_UNKNOWN = 10_000;

/** What forges call repositories; nothing else can be on a board. */
const NAME = /^(?=.{3,255}$)[\w.-]+(?:\/[\w.-]+)+$/;

/** For reads that were asked for when the server stops. */
const CLOSE_MS = 5_000;

export interface DeliveredChangesOptions {
  readonly database: Database;
  readonly refresher: Pick<Refresher, 'recompose' | 'refresh' | 'refreshRepository'>;
  /** Is told of reads that fail. */
  readonly report?: ((error: unknown) => void) | undefined;
  readonly now: () => number;
}

/** Brings boards up to date with what was delivered, by itself and soon. */
export interface DeliveredChanges {
  follow(personId: string, forge: ForgeName, event: DeliveredEvent): void;
  /** Does what is still to be done at once, for five seconds at most, and nothing more. */
  close(): Promise<void>;
}

export function createDeliveredChanges(options: DeliveredChangesOptions): DeliveredChanges {
  const { database, refresher, report = () => undefined, now } = options;
  const repositories = spaced({ ...REPOSITORY_SPACING, report });
  const boards = spaced({ ...BOARD_SPACING, report });
  const unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN, ttl: UNKNOWN_MS });

  function askBoard(personId: string): void {
    boards.ask(personId, () => refresher.refresh(personId));
  }

  async function readRepository(address: RepositoryAddress, key: string): Promise<void> {
    const { personId, forge, fullName } = address;
    if (!(await isFollowed(database, address))) {
      // It may be new, or have a new name: then the board follows it from now on.
      if (!unknown.has(key)) askBoard(personId);
      unknown.set(key, true);
      return;
    }
    const isFirst = await markWebhookSeen(database, address, now());
    await refresher.refreshRepository(personId, forge, fullName);
    // Where nothing else changed, the board does not show the mark yet.
    if (isFirst) await refresher.recompose(personId);
  }

  return {
    follow(personId, forge, { fullName = '' }) {
      const key = `${personId} ${forge} ${fullName}`;
      if (NAME.test(fullName)) repositories.ask(key, () => readRepository({ personId, forge, fullName }, key));
      else askBoard(personId);
    },
    async close() {
      const ended = repositories.close().then(() => boards.close());
      await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}
