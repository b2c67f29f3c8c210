import type { Gauge } from '@trellis/core/telemetry';
import { countRefreshes, type RefreshCounts } from '../../dashboard/refresh/schedule.js';
import type { Services } from '../../startup/services.js';
import { countConnections } from '../../storage/database.js';

type GaugedServices = Pick<Services, 'dashboard' | 'database' | 'site'>;

/** Lists the gauges of the running services. */
export function listServiceGauges(services: GaugedServices, running: readonly string[]): Gauge[] {
  return [
    ...databaseGauges(services),
    ...(running.includes('dashboard') ? dashboardGauges(services) : []),
    ...(running.includes('secrets') ? auditGauges(services) : []),
    ...(services.site ? siteGauges(services.site) : []),
  ];
}

/** The gauges whose values are those of one process; the others are the same in all. */
const OF_PROCESS = [
  'trellis_database_connections',
  'trellis_database_waiting',
  'trellis_delivery_reads',
  'trellis_image_jobs',
  'trellis_image_store_evictions',
];

/** Lists the gauges that workers add to those of the primary process. */
export const listWorkerGauges = (services: GaugedServices, running: readonly string[]): Gauge[] =>
  listServiceGauges(services, running).filter(({ name }) => OF_PROCESS.includes(name));

const databaseGauges = ({ database }: GaugedServices): Gauge[] => [
  {
    name: 'trellis_database_connections',
    help: 'Connections of the PostgreSQL pool by state.',
    label: 'state',
    read() {
      const counts = countConnections(database);
      return counts && { used: counts.used, idle: counts.idle };
    },
  },
  {
    name: 'trellis_database_waiting',
    help: 'Calls that wait for a connection to PostgreSQL.',
    read: () => countConnections(database)?.waiting,
  },
];

/** The time for which gauges share the result of one query. */
const SHARED_MS = 1_000;

function dashboardGauges({ dashboard, database }: GaugedServices): Gauge[] {
  let last: { readonly at: number; readonly counts: Promise<RefreshCounts> } | undefined;
  const count = (): Promise<RefreshCounts> => {
    const at = Date.now();
    if (last === undefined || Math.abs(at - last.at) > SHARED_MS) last = { at, counts: countRefreshes(database, at) };
    return last.counts;
  };
  return [
    {
      name: 'trellis_board_refreshes',
      help: 'Boards of all servers that are due, and that are being refreshed.',
      label: 'state',
      async read() {
        const { due, running } = await count();
        return { due, running };
      },
    },
    {
      name: 'trellis_board_refresh_lag_seconds',
      help: 'How long the longest waiting board has been due.',
      read: async () => (await count()).lagMs / 1000,
    },
    {
      name: 'trellis_delivery_reads',
      help: 'Reads after webhook deliveries to this server: running, waiting for the end of their delay, and idle.',
      label: 'state',
      read() {
        const counts = { running: 0, waiting: 0, idle: 0 };
        for (const { state } of dashboard.deliveries.listReads()) counts[state] += 1;
        return counts;
      },
    },
  ];
}

function auditGauges({ database }: GaugedServices): Gauge[] {
  const find = async () => {
    const pending = database.selectFrom('audit_pending').where('is_rejected', '=', 0);
    return pending
      .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('at').as('oldest')])
      .executeTakeFirst();
  };
  return [
    {
      name: 'trellis_audit_pending_entries',
      help: 'Committed entries of the audit log that are not in the hash chain yet.',
      read: async () => (await find())?.count ?? 0,
    },
    {
      name: 'trellis_audit_lag_seconds',
      help: 'How long the oldest of these entries has waited.',
      async read() {
        const oldest = (await find())?.oldest;
        // Null without a pending entry.
        return oldest ? Math.max(Date.now() - oldest, 0) / 1000 : 0;
      },
    },
  ];
}

function siteGauges(site: NonNullable<Services['site']>): Gauge[] {
  const open = () => ('open' in site.state ? site.state.open : undefined);
  return [
    {
      name: 'trellis_site_ready',
      help: 'Whether the site is open: 1, or 0.',
      read: () => (open() ? 1 : 0),
    },
    {
      name: 'trellis_site_records',
      help: 'Records of the site by type.',
      label: 'type',
      read: () => open()?.site.store.countRecords(),
    },
    {
      name: 'trellis_site_problems',
      help: 'Skipped entries and invalid values of the site.',
      read: () => open()?.site.problems().count,
    },
    {
      name: 'trellis_site_change_timestamp_seconds',
      help: 'The time of the last change of the site records that this server has written.',
      read() {
        const changedAt = open()?.site.store.changedAt;
        return changedAt === undefined ? undefined : changedAt / 1000;
      },
    },
    {
      name: 'trellis_site_index_age_seconds',
      help: 'How long ago the bucket confirmed the index that this server publishes or follows; since the start at most.',
      read: () => (site.index === undefined ? undefined : (site.index.ageSeconds ?? process.uptime())),
    },
    {
      name: 'trellis_site_index_sequence',
      help: 'The last transaction of the records in this index, by the identity of the records.',
      label: 'origin',
      read: () => site.index && { [site.index.origin]: site.index.sequence },
    },
    {
      name: 'trellis_image_jobs',
      help: 'Jobs of the image processes by state.',
      label: 'state',
      read() {
        const jobs = open()?.imaging.images.countJobs();
        return jobs && { running: jobs.running, waiting: jobs.waiting };
      },
    },
    {
      name: 'trellis_image_previews',
      help: 'Previews that were rendered ahead of queries, and images whose previews are not, by state.',
      label: 'state',
      read() {
        const counts = site.countPreviews?.();
        return counts && { ...counts };
      },
    },
    {
      name: 'trellis_image_store_bytes',
      help: 'Bytes of derived images and public copies.',
      read: () => open()?.imaging.images.quota.usedBytes(),
    },
    {
      name: 'trellis_image_store_limit_bytes',
      help: 'The bytes above which the least recently used files are deleted.',
      read: () => open()?.imaging.images.quota.maxBytes,
    },
    {
      name: 'trellis_image_store_evictions',
      help: 'Files that this server has deleted to stay within the limit.',
      read: () => open()?.imaging.images.quota.evicted,
    },
  ];
}
