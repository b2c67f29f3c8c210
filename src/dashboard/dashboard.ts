import type { Database } from '../storage/database.js';
import type { ServerKey } from '../storage/server-key.js';
import { createBoards } from './boards.js';
import type { Boards } from './boards.js';
import { createBoardStreams } from './board-streams.js';
import type { BoardStreams } from './board-streams.js';
import { createForgeClients } from './forges/open-forges.js';
import type { ForgeClients } from './forges/open-forges.js';
import { createPreferences } from './preferences.js';
import type { Preferences } from './preferences.js';
import { createRefreshes } from './refreshes.js';
import type { Refreshes } from './refreshes.js';
import { createRequestLog } from './request-log.js';
import type { RequestLog } from './request-log.js';
import { createSettings } from './settings.js';
import type { Settings } from './settings.js';
import { createSharing } from './sharing.js';
import type { Sharing } from './sharing.js';

export interface Dashboard {
  readonly boards: Boards;
  readonly streams: BoardStreams;
  readonly refreshes: Refreshes;
  readonly settings: Settings;
  readonly forges: ForgeClients;
  readonly preferences: Preferences;
  readonly sharing: Sharing;
  readonly requestLog: RequestLog;
}

export interface DashboardOptions {
  readonly database: Database;
  /** Seals what people tell us of their forges. */
  readonly key: ServerKey;
  /** Reads a person's forges and saves the board; without, a refresh leaves it as it is. */
  readonly refresh?: (personId: string) => Promise<void>;
  /** How often a stream looks for changes that another process made. */
  readonly pollMs?: number;
  readonly now?: () => number;
}

export function createDashboard({ database, key, refresh, pollMs, now }: DashboardOptions): Dashboard {
  const boards = createBoards(database, now);
  const settings = createSettings({ database, key, now });
  const requestLog = createRequestLog(database, now);
  return {
    boards,
    streams: createBoardStreams({ database, boards, pollMs }),
    refreshes: createRefreshes({ database, boards, refresh: refresh ?? (() => Promise.resolve()), now }),
    settings,
    forges: createForgeClients({ settings, record: (request) => requestLog.record(request), now }),
    preferences: createPreferences({ database, key }),
    sharing: createSharing(database),
    requestLog,
  };
}
