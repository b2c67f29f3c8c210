import { useId, useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { isServiceEnabled } from '../page-data.js';
import { user } from '../session.js';
import { Field, Form } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';

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

type NotificationSettings = components['schemas']['NotificationSettings'];

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

const WORKDAYS: readonly number[] = [1, 2, 3, 4, 5];

interface TimesProps {
  readonly settings: NotificationSettings;
  readonly onSaved: () => Promise<void>;
}

/** The form with quiet hours, the digest and batches. */
export function NotificationTimes({ settings, onSaved }: TimesProps) {
  const { quietHours, digest, timezone } = settings;
  const [isQuiet, setQuiet] = useState(quietHours !== undefined);
  const [from, setFrom] = useState(quietHours?.from ?? '20:00');
  const [to, setTo] = useState(quietHours?.to ?? '08:00');
  const [hasDigest, setDigest] = useState(digest !== undefined);
  const [at, setAt] = useState(digest?.at ?? '08:30');
  const [weekdays, setWeekdays] = useState<readonly number[]>(digest?.weekdays ?? WORKDAYS);
  const [staleDays, setStaleDays] = useState(String(settings.staleDays));
  const [batchMinutes, setBatchMinutes] = useState(String(settings.batchMinutes));
  const save = async (): Promise<void> => {
    if (hasDigest && weekdays.length === 0) throw new Error('Select at least one day for the digest.');
    const body = {
      ...(isQuiet && { quietHours: { from, to } }),
      ...(hasDigest && { digest: { at, weekdays: [...weekdays] } }),
      staleDays: Number(staleDays),
      batchMinutes: Number(batchMinutes),
    };
    requireData(await dashboardClient.PUT('/api/notifications', { body }));
    await onSaved();
    showToast('Notification times saved.');
  };
  return (
    <Form verb="Save times" onSave={save}>
      <Toggle label="Quiet hours: nothing is sent, and events wait" isOn={isQuiet} onToggle={setQuiet} />
      {isQuiet && (
        <div class="selects">
          <ClockField label="From" value={from} onValue={setFrom} />
          <ClockField label="To" value={to} onValue={setTo} />
        </div>
      )}
      <Toggle label="Digest of the pull requests that wait for you" isOn={hasDigest} onToggle={setDigest} />
      {hasDigest && (
        <>
          <ClockField label="Send at" value={at} onValue={setAt} />
          <Weekdays value={weekdays} onValue={setWeekdays} />
        </>
      )}
      <p class="quiet">Times are in the time zone {timezone}. You can change it under Appearance.</p>
      <Field
        label="Days without activity until a pull request is stale"
        {...{ type: 'number', required: true, min: 1, max: 90 }}
        value={staleDays}
        onValue={setStaleDays}
      />
      <Field
        label="Minutes to wait for further events, which are sent in the same message"
        {...{ type: 'number', required: true, min: 0, max: 120 }}
        value={batchMinutes}
        onValue={setBatchMinutes}
      />
    </Form>
  );
}

interface ToggleProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onToggle: (isOn: boolean) => void;
}

const Toggle = ({ label, isOn, onToggle }: ToggleProps) => (
  <label class="choice">
    <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onToggle(currentTarget.checked)} />
    {label}
  </label>
);

interface ClockFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function ClockField({ label, value, onValue }: ClockFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="time"
        required
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value.slice(0, 5))}
      />
    </div>
  );
}

interface WeekdaysProps {
  readonly value: readonly number[];
  readonly onValue: (value: readonly number[]) => void;
}

function Weekdays({ value, onValue }: WeekdaysProps) {
  return (
    <fieldset class="radios">
      <legend>On</legend>
      {DAYS.map((name, index) => {
        const day = index + 1;
        const others = value.filter((one) => one !== day);
        const isChosen = others.length < value.length;
        return (
          <Toggle
            key={name}
            label={name}
            isOn={isChosen}
            onToggle={() => onValue(isChosen ? others : [...value, day].sort((a, b) => a - b))}
          />
        );
      })}
    </fieldset>
  );
}
