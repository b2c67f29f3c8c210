import '../style/cards.css';
import './admin.css';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
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
      <dl class="facts">
        {site && <Fact name="Site" text={describeSite(site)} />}
        <Fact name="Expired data" text={describeCleanup(cleanup)} />
        <Fact name="Notifications" text={describeQueue(notifications)} />
      </dl>
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

const Fact = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </div>
);

/** The parts of a line, without those that say nothing. */
const join = (...parts: readonly (string | false)[]): string => parts.filter((part) => part !== false).join(' · ');

const count = (amount: number, one: string, many: string): string =>
  `${amount.toLocaleString()} ${amount === 1 ? one : many}`;

const describeSite = ({ status, records, changedAt, problems, images }: NonNullable<Jobs['site']>): string =>
  status === 'ok'
    ? join(
        count(records, 'record', 'records'),
        count(problems, 'problem', 'problems'),
        changedAt !== undefined && `changed ${formatDateTime(changedAt)}`,
        images.running + images.waiting > 0 && `${images.running} images in work, ${images.waiting} waiting`,
      )
    : `The site is ${status}.`;

function describeCleanup({ isRunning, endedAt, failures }: Jobs['cleanup']): string {
  if (isRunning) return 'Being deleted';
  if (endedAt === undefined) return 'Not deleted yet';
  return join(
    `Last deleted ${formatDateTime(endedAt)}`,
    failures > 0 && `${count(failures, 'step', 'steps')} failed; the log has the errors`,
  );
}

const describeQueue = ({ collecting, waiting, failed }: Jobs['notifications']): string =>
  join(
    `${count(waiting, 'message', 'messages')} waiting`,
    `${count(collecting, 'event', 'events')} being collected`,
    failed > 0 && `${failed} not sent in the last 24 hours`,
  );

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
    await changeEntry(onChanged, dashboardClient.POST('/api/admin/jobs/boards/{username}/refresh', { params }));
    await onChanged();
    showToast(`The board of ${username} is due.`);
  };
  const cancel = async (): Promise<void> => {
    await changeEntry(onChanged, dashboardClient.POST('/api/admin/jobs/boards/{username}/cancel', { params }));
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
