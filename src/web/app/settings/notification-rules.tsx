import type { components } from '../../../generated/dashboard/client.js';
import { isServiceEnabled } from '../page-data.js';
import { user } from '../session.js';

type Schemas = components['schemas'];
type EventKind = Schemas['NotificationEventKind'];
type Kind = Schemas['NotificationChannelKind'];

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  email: 'E-mail',
  web_push: 'This browser',
  slack: 'Slack or Mattermost',
  webhook: 'Webhook (JSON)',
};

const EVENT_NAMES: readonly (readonly [EventKind, string])[] = [
  ['review_requested', 'A review is requested from you or your team'],
  ['checks_failed', 'The checks of your pull request fail'],
  ['approved', 'Your pull request is approved'],
  ['changes_requested', 'Changes to your pull request are requested'],
  ['mentioned', 'Someone mentions you (needs a webhook)'],
  ['merged', 'Your pull request is merged'],
  ['stale', 'A pull request that needs you has had no activity for days'],
  ['rotation_due', 'A secret is due for rotation, every week'],
];

/** Reminders of secrets are for their owner. */
const hasSecrets = (): boolean => user.value?.isAdmin === true && isServiceEnabled('secrets');

export interface Rules {
  readonly events: readonly EventKind[];
  readonly digest: boolean;
}

interface RulesProps {
  readonly value: Rules;
  readonly onValue: (rules: Rules) => void;
}

/** Check boxes for the events of a channel. */
export function RulesField({ value: { events, digest }, onValue }: RulesProps) {
  const toggle = (kind: EventKind): void => {
    const rest = events.filter((one) => one !== kind);
    onValue({ digest, events: rest.length === events.length ? [...events, kind] : rest });
  };
  return (
    <fieldset>
      <legend>Notify when</legend>
      {EVENT_NAMES.filter(([kind]) => kind !== 'rotation_due' || hasSecrets()).map(([kind, name]) => (
        <label key={kind} class="choice">
          <input type="checkbox" checked={events.includes(kind)} onChange={() => toggle(kind)} />
          {name}
        </label>
      ))}
      <label class="choice">
        <input type="checkbox" checked={digest} onChange={() => onValue({ events, digest: !digest })} />
        Send the digest
      </label>
    </fieldset>
  );
}
