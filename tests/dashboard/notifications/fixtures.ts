import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import type { DashboardOptions } from '../../../src/dashboard/dashboard.js';
import type { components } from '../../../src/generated/dashboard/types.js';
import { LOOPBACK } from '../../forges/forge-server.js';
import { pullRequest, repo } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

type Row = ReturnType<typeof pullRequest>;
type Schemas = components['schemas'];
type NewChannel = Schemas['CreateNotificationChannel'];

export interface Notified extends TestDashboard {
  /** Moves the clock of the dashboard. */
  wait(milliseconds: number): void;
  /** Saves a board with these pull requests of one repository. */
  show(...changes: readonly Partial<Row>[]): Promise<void>;
  /** Creates a channel of ada for all events. */
  add(channel: Partial<NewChannel> & Pick<NewChannel, 'kind'>): Promise<Schemas['CreatedNotificationChannel']>;
  /** Lists the deliveries of ada. */
  log(): Promise<Schemas['NotificationDelivery'][]>;
}

export const EVENTS = [
  'review_requested',
  'checks_failed',
  'approved',
  'changes_requested',
  'mentioned',
  'merged',
  'stale',
  'rotation_due',
] as const;

/** Opens a dashboard that sends notifications. Ada is `ada` at GitHub. The clock starts at the real time. */
export async function openNotified(options: Partial<DashboardOptions> = {}): Promise<Notified> {
  let offset = 0;
  const now = () => Date.now() + offset;
  const dashboard = await openDashboard({ notificationAllow: LOOPBACK, notificationLookMs: 20, now, ...options });
  const { ada, boards, notifications } = dashboard;
  await dashboard.settings.save(ada, { githubUsername: 'ada' });
  await notifications.save(ada, { staleDays: 7, batchMinutes: 0 });
  return {
    ...dashboard,
    wait: (milliseconds) => {
      offset += milliseconds;
      notifications.worker.wake();
    },
    async show(...changes) {
      const recent = { updatedAt: new Date(now() - 60_000).toISOString() };
      const pullRequests = changes.map((change) => pullRequest({ ...recent, ...change }));
      await boards.save(ada.personId, { ...EMPTY_BOARD_SNAPSHOT, repos: [repo()], pullRequests });
    },
    add: (channel) =>
      notifications.channels.create(ada, { label: 'Mine', events: [...EVENTS], digest: true, ...channel }),
    log: async () => (await notifications.listDeliveries(ada, { limit: 100, offset: 0 })).entries,
  };
}
