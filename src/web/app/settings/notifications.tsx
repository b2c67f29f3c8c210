import { nameBrowser } from '@trellis/core/browser-name';
import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { clearSent, Field, Form, OneTimeSecret, Select } from '../ui/form.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { KIND_NAMES, NotificationTimes, type Rules, RulesField } from './notification-rules.js';

type Schemas = components['schemas'];
type Channel = Schemas['NotificationChannel'];
type Delivery = Schemas['NotificationDelivery'];
type Kind = Schemas['NotificationChannelKind'];
type NotificationSettings = Schemas['NotificationSettings'];

/** The newest deliveries are enough to see whether messages arrive. */
const SHOWN_DELIVERIES = 20;

const load = async () => {
  const query = { limit: SHOWN_DELIVERIES };
  const [settings, deliveries] = await Promise.all([
    dashboardClient.GET('/api/notifications'),
    dashboardClient.GET('/api/notifications/deliveries', { params: { query } }),
  ]);
  return { settings: requireData(settings), deliveries: requireData(deliveries) };
};

/** The settings section for messages about pull requests. */
export function NotificationsSection() {
  const loaded = useResource(load);
  const [secret, setSecret] = useState<string>();
  return (
    <section class="notifications" aria-labelledby="notifications">
      <h2 id="notifications" tabIndex={-1}>
        Notifications
      </h2>
      <p class="quiet">Messages about your pull requests, also while this page is closed.</p>
      {secret !== undefined && (
        <OneTimeSecret label="Secret of the webhook. Copy it now: it won’t be shown again." value={secret} />
      )}
      <AsyncContent from={loaded}>
        {({ settings, deliveries }) => (
          <>
            <ul class="things">
              {settings.channels.length === 0 && <li>No channels.</li>}
              {settings.channels.map((channel) => (
                <ChannelItem key={channel.id} channel={channel} onChanged={loaded.reload} />
              ))}
            </ul>
            <details>
              <summary>Add a channel</summary>
              <NewChannel
                settings={settings}
                onMade={async (made) => {
                  // The secret of an earlier webhook stays, as it is shown only once.
                  if (made !== undefined) setSecret(made);
                  await loaded.reload();
                }}
              />
            </details>
            <details>
              <summary>Quiet hours, digest and batches</summary>
              <NotificationTimes settings={settings} onSaved={loaded.reload} />
            </details>
            <details>
              <summary>Recent messages</summary>
              <DeliveryList deliveries={deliveries} />
              <ActionButton onAct={loaded.reload}>Reload</ActionButton>
            </details>
          </>
        )}
      </AsyncContent>
    </section>
  );
}

interface ChannelProps {
  readonly channel: Channel;
  readonly onChanged: () => Promise<void>;
}

function ChannelItem({ channel, onChanged }: ChannelProps) {
  const { id, kind, label, target, state } = channel;
  const params = { path: { id } };
  const test = async (): Promise<void> => {
    const { state: outcome, error } = requireData(
      await dashboardClient.POST('/api/notifications/channels/{id}/test', { params }),
    );
    await onChanged();
    if (outcome === 'failed') throw new Error(error ?? 'The message could not be sent.');
    showToast(state === 'active' ? 'Test message sent.' : 'Code sent again.');
  };
  const remove = async (): Promise<void> => {
    await changeEntry(onChanged, dashboardClient.DELETE('/api/notifications/channels/{id}', { params }));
    await onChanged();
    showToast(`Channel “${label}” deleted.`);
  };
  return (
    <li>
      <div>
        {label}
        <small>
          {kind === 'web_push' ? 'Browser' : KIND_NAMES[kind]} · {target}
          {state === 'unconfirmed' && ' · not confirmed'}
        </small>
        {state === 'unconfirmed' ? (
          <Confirmation id={id} onChanged={onChanged} />
        ) : (
          <details>
            <summary>Rules of {label}</summary>
            <ChannelRules channel={channel} onChanged={onChanged} />
          </details>
        )}
      </div>
      <div class="acts">
        <ActionButton aria-label={`${state === 'active' ? 'Test' : 'Send code again'}: ${label}`} onAct={test}>
          {state === 'active' ? 'Test' : 'Send code again'}
        </ActionButton>
        <ConfirmButton class="danger" label={`Delete channel ${label}`} question="Delete channel?" onAct={remove}>
          Delete
        </ConfirmButton>
      </div>
    </li>
  );
}

function Confirmation({ id, onChanged }: { readonly id: string; readonly onChanged: () => Promise<void> }) {
  const [code, setCode] = useState('');
  const confirm = async (): Promise<void> => {
    const params = { path: { id } };
    requireData(await dashboardClient.POST('/api/notifications/channels/{id}/confirm', { params, body: { code } }));
    await onChanged();
    showToast('Address confirmed.');
  };
  return (
    <Form verb="Confirm" onSave={confirm}>
      <Field
        label="Code in the e-mail"
        required
        maxLength={32}
        autoComplete="one-time-code"
        value={code}
        onValue={setCode}
      />
    </Form>
  );
}

function ChannelRules({ channel, onChanged }: ChannelProps) {
  const [label, setLabel] = useState(channel.label);
  const [rules, setRules] = useState<Rules>(channel);
  const save = async (): Promise<void> => {
    const body = { label, events: [...rules.events], digest: rules.digest };
    const params = { path: { id: channel.id } };
    requireData(await dashboardClient.PUT('/api/notifications/channels/{id}', { params, body }));
    await onChanged();
    showToast('Rules saved.');
  };
  return (
    <Form verb="Save rules" onSave={save}>
      <Field label="Name" required maxLength={100} value={label} onValue={setLabel} />
      <RulesField value={rules} onValue={setRules} />
    </Form>
  );
}

const DEFAULT_RULES: Rules = {
  events: ['review_requested', 'checks_failed', 'approved', 'changes_requested', 'mentioned', 'merged'],
  digest: true,
};

interface NewChannelProps {
  readonly settings: NotificationSettings;
  /** Called with the secret of a webhook. */
  readonly onMade: (secret: string | undefined) => Promise<void>;
}

function NewChannel({ settings: { emailAvailable, pushPublicKey }, onMade }: NewChannelProps) {
  const kinds = (Object.entries(KIND_NAMES) as [Kind, string][]).filter(
    ([one]) => (one !== 'email' || emailAvailable) && (one !== 'web_push' || supportsPush()),
  );
  const [kind, setKind] = useState<Kind>(kinds[0]?.[0] ?? 'webhook');
  const [label, setLabel] = useState('');
  const [place, setPlace] = useState('');
  const [rules, setRules] = useState(DEFAULT_RULES);
  const create = async (): Promise<void> => {
    const named = { kind, label: label.trim() || nameOf(kind), events: [...rules.events], digest: rules.digest };
    const address =
      kind === 'web_push'
        ? { subscription: await subscribeToPush(pushPublicKey) }
        : { [kind === 'email' ? 'address' : 'url']: place.trim() };
    const body = { ...named, ...address };
    const { secret } = requireData(await dashboardClient.POST('/api/notifications/channels', { params: {}, body }));
    setLabel(clearSent(label));
    setPlace(clearSent(place));
    await onMade(secret);
    showToast(kind === 'email' ? 'Channel added. Enter the code that the address receives.' : 'Channel added.');
  };
  return (
    <Form verb="Add channel" onSave={create}>
      <Select label="Send to" value={kind} options={kinds} onValue={setKind} />
      {kind === 'email' && (
        <Field label="Address" required maxLength={254} autoComplete="email" value={place} onValue={setPlace} />
      )}
      {(kind === 'slack' || kind === 'webhook') && (
        <Field
          label={kind === 'slack' ? 'URL of the incoming webhook' : 'URL'}
          {...{ type: 'url', required: true, maxLength: 2048, autoComplete: 'off' }}
          value={place}
          onValue={setPlace}
        />
      )}
      <Field label="Name (optional)" maxLength={100} value={label} onValue={setLabel} />
      <RulesField value={rules} onValue={setRules} />
    </Form>
  );
}

const nameOf = (kind: Kind): string => (kind === 'web_push' ? nameBrowser(navigator.userAgent) : KIND_NAMES[kind]);

const STATES: Readonly<Record<Delivery['state'], string>> = {
  waiting: 'Waiting',
  sending: 'Sending',
  sent: 'Sent',
  failed: 'Failed',
};

function DeliveryList({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <ul class="things">
      {deliveries.length === 0 && <li>No messages.</li>}
      {deliveries.map((delivery) => (
        <li key={delivery.id}>
          <div>
            {delivery.title}
            <small>
              {delivery.channel.label} · {describe(delivery)}
            </small>
            {delivery.error !== undefined && delivery.state !== 'sent' && <small>{delivery.error}</small>}
          </div>
        </li>
      ))}
    </ul>
  );
}

function describe({ state, attempts, createdAt, nextAttemptAt, endedAt }: Delivery): string {
  const tries = attempts > 1 ? ` · ${attempts} attempts` : '';
  const next = nextAttemptAt === undefined || attempts === 0 ? '' : ` · next attempt ${formatDateTime(nextAttemptAt)}`;
  return `${STATES[state]} · ${formatDateTime(endedAt ?? createdAt)}${tries}${next}`;
}

type PushSubscriptionBody = components['schemas']['PushSubscription'];

/** Whether this browser supports web push. Safari on iOS does so only for pages on the home screen. */
const supportsPush = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window;

/**
 * Asks for permission, and subscribes this browser.
 *
 * @param publicKey The server's public key in base64url.
 * @throws Error with a message for the user.
 */
async function subscribeToPush(publicKey: string): Promise<PushSubscriptionBody> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error('Notifications are blocked. Allow them for this site in the settings of the browser.');
  }
  await navigator.serviceWorker.register('/push-worker.js');
  const { pushManager } = await navigator.serviceWorker.ready;
  // A subscription with another key, of an earlier server, can't be used.
  await (await pushManager.getSubscription())?.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  // The type has the shape that every browser returns.
  return subscription.toJSON() as PushSubscriptionBody;
}
