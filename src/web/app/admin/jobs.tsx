import '../style/cards.css';
import './admin.css';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';

type Jobs = components['schemas']['Jobs'];
type BoardJob = components['schemas']['BoardJob'];
type NotificationJob = components['schemas']['NotificationJob'];
type DeliveryJob = components['schemas']['DeliveryJob'];

const loadJobs = async () => requireData(await dashboardClient.GET('/api/admin/jobs'));

export function JobsSection() {
  const jobs = useResource(loadJobs);
  return (
    <section aria-labelledby="jobs">
      <h2 id="jobs">Background work</h2>
      <AsyncContent from={jobs}>{(loaded) => <Work jobs={loaded} onChanged={jobs.reload} />}</AsyncContent>
    </section>
  );
}

interface WorkProps {
  readonly jobs: Jobs;
  readonly onChanged: () => Promise<void>;
}

function Work({ jobs: { boards, deliveries, notifications, cleanup, site }, onChanged }: WorkProps) {
  const cleanUp = async (): Promise<void> => {
    requireData(await dashboardClient.POST('/api/admin/jobs/cleanup'));
    await onChanged();
    showToast('The deletion of expired data has started.');
  };
  return (
    <>
      {site && <p>{describeSite(site)}</p>}
      <p>{describeCleanup(cleanup)}</p>
      <p>{describeQueue(notifications)}</p>
      <div class="acts">
        <ActionButton onAct={onChanged}>Reload</ActionButton>
        <ActionButton onAct={cleanUp}>Delete expired data now</ActionButton>
      </div>
      {boards.length > 0 && (
        <table class="cards">
          <TableHead names={BOARD_NAMES} />
          <tbody>
            {boards.map((job) => (
              <BoardRow key={job.username} job={job} onChanged={onChanged} />
            ))}
          </tbody>
        </table>
      )}
      {deliveries.length > 0 && <DeliveryTable deliveries={deliveries} />}
      {notifications.deliveries.length > 0 && <NotificationTable jobs={notifications.deliveries} />}
    </>
  );
}

function describeSite({ status, records, changedAt, problems, images }: NonNullable<Jobs['site']>): string {
  if (status !== 'ok') return `The site is ${status}.`;
  const changed = changedAt === undefined ? '' : ` Last change: ${formatDateTime(changedAt)}.`;
  const waiting = `${images.running} images are being made, ${images.waiting} wait.`;
  return `The site has ${records} records and ${problems} problems.${changed} ${waiting}`;
}

function describeCleanup({ isRunning, endedAt, failures }: Jobs['cleanup']): string {
  if (isRunning) return 'Expired data is being deleted.';
  const failed = failures === 0 ? '' : ` ${failures} steps failed; the log has the errors.`;
  if (endedAt === undefined) return 'Expired data has not been deleted yet.';
  return `Expired data was last deleted ${formatDateTime(endedAt)}.${failed}`;
}

function describeQueue({ collecting, waiting, failed }: Jobs['notifications']): string {
  const lost = failed === 0 ? '' : ` ${failed} could not be sent in the last 24 hours.`;
  return `Notifications: ${waiting} messages wait, ${collecting} events are being collected.${lost}`;
}

const BOARD_NAMES = ['Board', 'State', 'Due', 'Refreshes', 'Actions'] as const;

const BOARD_STATES: Readonly<Record<BoardJob['state'], string>> = {
  running: 'Running',
  due: 'Due',
  scheduled: 'Scheduled',
};

interface BoardRowProps {
  readonly job: BoardJob;
  readonly onChanged: () => Promise<void>;
}

function BoardRow({ job: { username, state, dueAt, runs }, onChanged }: BoardRowProps) {
  const params = { path: { username } };
  const refresh = async (): Promise<void> => {
    requireData(await dashboardClient.POST('/api/admin/jobs/boards/{username}/refresh', { params }));
    await onChanged();
    showToast(`The board of ${username} is due.`);
  };
  const cancel = async (): Promise<void> => {
    requireData(await dashboardClient.POST('/api/admin/jobs/boards/{username}/cancel', { params }));
    await onChanged();
    showToast(`The refresh of the board of ${username} was cancelled.`);
  };
  return (
    <tr>
      <td data-name={BOARD_NAMES[0]}>{username}</td>
      <td data-name={BOARD_NAMES[1]}>{BOARD_STATES[state]}</td>
      <td data-name={BOARD_NAMES[2]}>{formatDateTime(dueAt)}</td>
      <td data-name={BOARD_NAMES[3]}>{runs}</td>
      <td data-name={BOARD_NAMES[4]}>
        {state === 'running' ? (
          <ConfirmButton label={`Cancel the refresh of ${username}`} question="Cancel the refresh?" onAct={cancel}>
            Cancel
          </ConfirmButton>
        ) : (
          <ActionButton aria-label={`Refresh now: the board of ${username}`} onAct={refresh}>
            Refresh now
          </ActionButton>
        )}
      </td>
    </tr>
  );
}

const DELIVERY_NAMES = ['Delivery for', 'Repository', 'State', 'Until'] as const;

const DELIVERY_STATES: Readonly<Record<DeliveryJob['state'], string>> = {
  running: 'Running',
  waiting: 'Waits for the next read',
  idle: 'Done; the next read is delayed',
};

function DeliveryTable({ deliveries }: { readonly deliveries: readonly DeliveryJob[] }) {
  return (
    <table class="cards">
      <TableHead names={DELIVERY_NAMES} />
      <tbody>
        {deliveries.map(({ username, forge, repository, state, until }, index) => (
          <tr key={index}>
            <td data-name={DELIVERY_NAMES[0]}>{username}</td>
            <td data-name={DELIVERY_NAMES[1]}>
              {repository === undefined ? 'The whole board' : `${repository} (${forge})`}
            </td>
            <td data-name={DELIVERY_NAMES[2]}>{DELIVERY_STATES[state]}</td>
            <td data-name={DELIVERY_NAMES[3]}>{until && formatDateTime(until)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const NOTIFICATION_NAMES = ['Notification for', 'Channel', 'State', 'Attempts', 'Error'] as const;

const CHANNEL_NAMES: Readonly<Record<NotificationJob['kind'], string>> = {
  email: 'E-mail',
  web_push: 'Browser',
  webhook: 'Webhook',
  slack: 'Slack or Mattermost',
};

function NotificationTable({ jobs }: { readonly jobs: readonly NotificationJob[] }) {
  return (
    <table class="cards">
      <TableHead names={NOTIFICATION_NAMES} />
      <tbody>
        {jobs.map(({ username, kind, state, attempts, nextAttemptAt, error }, index) => (
          <tr key={index}>
            <td data-name={NOTIFICATION_NAMES[0]}>{username}</td>
            <td data-name={NOTIFICATION_NAMES[1]}>{CHANNEL_NAMES[kind]}</td>
            <td data-name={NOTIFICATION_NAMES[2]}>
              {state === 'sending' ? 'Sending' : `Due ${formatDateTime(nextAttemptAt)}`}
            </td>
            <td data-name={NOTIFICATION_NAMES[3]}>{attempts}</td>
            <td data-name={NOTIFICATION_NAMES[4]}>{error}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
