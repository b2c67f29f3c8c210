import { type Database, isPostgres } from '../storage/database.js';
import type { ServerKey } from '../storage/server-key.js';
import { type ChangeNotices, createBoardChanges, readBoardVersions } from './boards/board-changes.js';
import { type BoardStreams, createBoardStreams } from './boards/board-streams.js';
import { type Boards, createBoards } from './boards/boards.js';
import { createFeeds, type Feeds } from './boards/feeds.js';
import { createSnoozes, type Snoozes, createVisits, type Visits } from './boards/owner-state.js';
import { createSharing, getBoardOwnerId, type Sharing } from './boards/sharing.js';
import { createViews, type Views } from './boards/views.js';
import { createForgeClients, type ForgeClients } from './forges/forge-clients.js';
import type { GithubApp } from './forges/github/access.js';
import { createHistories, deleteOldHistories, type Histories } from './insights/histories.js';
import { createReviewInsights, type ReviewInsights } from './insights/review-insights.js';
import { deleteOldDays, createThroughput, type Throughput } from './insights/throughput.js';
import { createJobs, type Jobs } from './jobs.js';
import { createNotifications, type Notifications } from './notifications/notifications.js';
import { deleteOldNotifications } from './notifications/outbox.js';
import type { SmtpOptions } from './notifications/transports.js';
import { type Actions, createActions } from './pull-requests/actions.js';
import { createAutomation } from './pull-requests/automation.js';
import { createAttempts, deleteExpiredAttempts } from './pull-requests/send-action-once.js';
import { deleteExpiredState } from './pull-requests/state-entries.js';
import { createRefresher, createRefreshes, INTERVAL_MS, type Refresher, type Refreshes } from './refresh/refresher.js';
import { findReadingConnection } from './refresh/repository-snapshots.js';
import { createRequestLog, type RequestLog } from './request-log.js';
import {
  createCredentials,
  type Credentials,
  createForgeConnectionTest,
  type ForgeConnectionTest,
} from './settings/credentials.js';
import { createRepositories, type Repositories } from './settings/repositories.js';
import { createPreferences, type Preferences, createSettings, type Settings } from './settings/settings.js';
import { createDeliveries, type Deliveries } from './webhooks/deliveries.js';
import {
  createEnsureWebhook,
  createRotateWebhook,
  type EnsureWebhook,
  type RotateWebhook,
} from './webhooks/set-up-webhook.js';

export interface Dashboard {
  readonly boards: Boards;
  readonly streams: BoardStreams;
  readonly refreshes: Refreshes;
  readonly refresher: Refresher;
  readonly settings: Settings;
  readonly credentials: Credentials;
  readonly forges: ForgeClients;
  readonly testForgeConnection: ForgeConnectionTest;
  readonly preferences: Preferences;
  readonly sharing: Sharing;
  readonly views: Views;
  readonly snoozes: Snoozes;
  readonly visits: Visits;
  readonly feeds: Feeds;
  readonly throughput: Throughput;
  readonly histories: Histories;
  readonly reviewInsights: ReviewInsights;
  readonly notifications: Notifications;
  readonly deliveries: Deliveries;
  readonly ensureWebhook: EnsureWebhook;
  readonly rotateWebhook: RotateWebhook;
  readonly actions: Actions;
  readonly repositories: Repositories;
  readonly requestLog: RequestLog;
  readonly jobs: Jobs;
}

export interface DashboardOptions {
  readonly database: Database;
  /** Encrypts users' forge settings and webhook secrets. */
  readonly key: ServerKey;
  /** Returns the public origin, which is known once the server listens. */
  readonly origin: () => string;
  /** The GitHub App of this server, if it has one. */
  readonly githubApp?: GithubApp;
  /** Private addresses that forges may have: CIDR ranges, IP addresses and host names. */
  readonly forgeAllow?: readonly string[];
  /** The mail server of notifications; absent if the server sends no e-mail. */
  readonly smtp?: SmtpOptions;
  /** Private addresses that notifications may be sent to: CIDR ranges, IP addresses and host names. */
  readonly notificationAllow?: readonly string[];
  /** How often to look for notifications that are due. */
  readonly notificationLookMs?: number;
  /** Replaces the refresh that a user requests; by default their forges are read. */
  readonly refresh?: (personId: string) => Promise<void>;
  /** The time from the end of one refresh of a board to the next. */
  readonly refreshMs?: number;
  /** Receives errors of background work, except those of forges. */
  readonly report?: (error: unknown) => void;
  /** Whether other processes use the database. */
  readonly hasOtherProcesses?: boolean;
  /** How often boards with subscribers are polled for changes that another process made. */
  readonly pollMs?: number;
  /** Messages between the processes; absent to poll only. */
  readonly notices?: ChangeNotices & { readonly isListening: boolean };
  readonly now?: () => number;
}

/** Changes that another process stores show within a second. */
const POLL_MS = 500;

/** The same while notices arrive, of which one may be lost. */
const NOTICED_POLL_MS = 5_000;

/** A process alone on its database notifies itself; polling only detects deleted users. */
const ALONE_POLL_MS = 15_000;

/** The names of messages to other processes, beside the ids of users, which name boards. */
const SCHEDULED = '/refreshes';
const QUEUED = '/notifications';

export function createDashboard(options: DashboardOptions): Dashboard {
  const { database, key, origin, githubApp, forgeAllow, refresh, refreshMs, report, pollMs, now = Date.now } = options;
  const { smtp, notificationAllow: allow, notificationLookMs: lookMs } = options;
  const { hasOtherProcesses = isPostgres(database) } = options;
  const { notices } = options;
  const everyMs = (): number => {
    if (!hasOtherProcesses) return ALONE_POLL_MS;
    return notices?.isListening ? NOTICED_POLL_MS : POLL_MS;
  };
  const changes = createBoardChanges(
    {
      readVersions: (personIds) => readBoardVersions(database, personIds, now()),
      everyMs: () => pollMs ?? everyMs(),
    },
    notices,
  );
  const notifications: Notifications = createNotifications({
    ...{ database, key, origin, smtp, allow, report, lookMs, now },
    getForges: (personId) => forges.of(personId),
    onQueued: () => notices?.send(QUEUED),
  });
  const boards = createBoards(database, now, changes, (transaction, board) =>
    notifications.recordBoard(transaction, board),
  );
  const requestLog = createRequestLog(database, now);
  const settings = createSettings({
    database,
    key,
    now,
    hasGithubApp: githubApp !== undefined,
    async onSaved(personId, moved) {
      // Rows of the old server must not receive actions that would go to the new one.
      if (moved.length > 0) await refresher.rebuildBoard(personId);
      await refresher.refreshSoon(personId);
    },
  });
  const forges = createForgeClients({
    settings,
    record: (request) => requestLog.record(request),
    findConnection: (personId, connections, fullName) =>
      findReadingConnection(database, personId, { connections: connections.map(({ id }) => id), fullName }),
    app: githubApp,
    allow: forgeAllow,
    now,
  });
  const attempts = createAttempts(database, now);
  const refresher: Refresher = createRefresher({
    database,
    boards,
    findSettings: (personId) => settings.findForges(personId),
    getForges: (personId) => forges.of(personId),
    getConnections: (personId) => forges.listConnections(personId),
    intervalMs: refreshMs,
    async onRefreshed(...refreshed) {
      await followUps(...refreshed);
      await histories.read(refreshed[0]);
    },
    onScheduled: () => notices?.send(SCHEDULED),
    isNotified: () => notices?.isListening === true,
    report,
    now,
  });
  notices?.onReceived((name) => {
    if (name === SCHEDULED) refresher.wake();
    if (name === QUEUED) notifications.worker.wake();
  });
  const followUps = createAutomation({ database, refresher, attempts, now });
  const histories = createHistories({ database, getConnections: (personId) => forges.listConnections(personId), now });
  const deliveries = createDeliveries({
    ...{ database, key, refresher, report, now },
    onText: (text, place) => notifications.recordText(text, place),
  });
  return {
    boards,
    streams: createBoardStreams({ database, boards, hasOtherProcesses, now }),
    refreshes: createRefreshes({
      database,
      boards,
      refresh: refresh ?? ((personId) => refresher.refresh(personId)),
      now,
    }),
    refresher,
    settings,
    credentials: createCredentials({
      ...{ database, key, forges, now },
      async onSaved(personId, isMoved) {
        if (isMoved) await refresher.rebuildBoard(personId);
        await refresher.refreshNow(personId);
      },
    }),
    forges,
    testForgeConnection: createForgeConnectionTest(settings, forges),
    preferences: createPreferences({ database, key, onNewTimezone: notifications.moveToTimezone }),
    sharing: createSharing(database),
    views: createViews(database),
    snoozes: createSnoozes({ database, boards, now }),
    visits: createVisits({ database, boards }),
    feeds: createFeeds({ database, boards, origin, now }),
    throughput: createThroughput({
      database,
      getOwnerId: (caller, username) => getBoardOwnerId(database, caller, username),
      now,
    }),
    histories,
    reviewInsights: createReviewInsights({
      database,
      getOwnerId: (caller, username) => getBoardOwnerId(database, caller, username),
      getConnections: (personId) => forges.listConnections(personId),
      now,
    }),
    notifications,
    deliveries,
    ensureWebhook: createEnsureWebhook({ database, key, forges, origin, now }),
    rotateWebhook: createRotateWebhook({ database, key, now }),
    actions: createActions({ database, forges, refresher, attempts, now }),
    repositories: createRepositories({ database, refresher }),
    requestLog,
    jobs: createJobs({ database, refresher, deliveries, intervalMs: refreshMs ?? INTERVAL_MS, now }),
  };
}

/** Deletes expired data of all boards. */
export async function deleteExpiredDashboardData(database: Database, at: number): Promise<void> {
  await deleteExpiredState(database, at);
  await deleteExpiredAttempts(database, at);
  await deleteOldDays(database, at);
  await deleteOldHistories(database, at);
  await deleteOldNotifications(database, at);
}
