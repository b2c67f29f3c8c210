/** Sends messages by the protocol of a channel. */
import { createHmac } from 'node:crypto';
import type { PushSubscription } from 'web-push';
import type { components } from '../../generated/dashboard/types.js';
import { type AddressPolicy, createAddressPolicy } from '../forges/http/address-policy.js';
import { createAgent, type ForgeAgent } from '../forges/http/fetch-response.js';
import { DeliveryError } from './delivery-error.js';
import { type Message, toPlainText, toPushNotification, toSlackText, toWebhookBody } from './messages.js';
import { assertAccepted, post } from './post.js';
import type { PushKeys } from './push-keys.js';
import { createMailer, type SmtpOptions } from './smtp.js';

export type ChannelKind = components['schemas']['NotificationChannelKind'];

/** Where a channel sends its messages to. */
export type ChannelAddress =
  | { readonly kind: 'email'; readonly address: string }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'web_push'; readonly subscription: PushSubscription }
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string };

/** A message with the properties that are the same in each attempt. */
export interface Delivery {
  readonly id: string;
  readonly createdAt: number;
  readonly message: Message;
  /** The code of a message of the kind `confirmation`. */
  readonly code?: string;
}

export interface Senders {
  /** Decides which URLs the server may connect to. */
  readonly policy: AddressPolicy;
  /** Whether the server can send e-mail. */
  readonly hasEmail: boolean;
  /** Makes one attempt. @throws DeliveryError if the receiver has not accepted the message. */
  send(address: ChannelAddress, delivery: Delivery): Promise<void>;
  close(): void;
}

export interface SendersOptions {
  /** Returns the public origin. */
  readonly origin: () => string;
  /** Private addresses that channels may have: CIDR ranges, addresses and host names. */
  readonly allow?: readonly string[];
  readonly smtp?: SmtpOptions;
  readonly readPushKeys: () => Promise<PushKeys>;
  readonly now: () => number;
}

interface Context extends SendersOptions {
  readonly agent: ForgeAgent;
}

export function createSenders(options: SendersOptions): Senders {
  const { allow = [], smtp, origin } = options;
  const policy = createAddressPolicy({ allow });
  const agent = createAgent(policy);
  const context: Context = { ...options, agent };
  const mailer = smtp && createMailer(smtp, origin);
  return {
    policy,
    hasEmail: mailer !== undefined,
    async send(address, delivery) {
      if (address.kind === 'webhook') await sendToWebhook(address, delivery, context);
      else if (address.kind === 'slack') await sendToSlack(address, delivery, context);
      else if (address.kind === 'web_push') await sendToBrowser(address, delivery, context);
      else if (mailer === undefined) throw new DeliveryError('The server is not configured to send e-mail.');
      else await mailer.send({ to: address.address, id: delivery.id, ...toMail(delivery, origin()) });
    },
    close: () => mailer?.close(),
  };
}

interface Mail {
  readonly subject: string;
  readonly text: string;
}

function toMail({ message, code }: Delivery, origin: string): Mail {
  const footer = `\n\nYou receive this message because of your notification settings:\n${origin}/settings#notifications\n`;
  if (message.kind !== 'confirmation')
    return { subject: message.title, text: toPlainText(message, `${origin}/`) + footer };
  const text = `Enter this code in the settings to receive notifications at this address:\n\n${code ?? ''}\n\n${origin}/settings#notifications\n\nIf you have not asked for it, ignore this message.\n`;
  return { subject: message.title, text };
}

type Of<Kind extends ChannelKind> = Extract<ChannelAddress, { readonly kind: Kind }>;

/** Signs requests as the specification Standard Webhooks says, so that receivers can verify them with its libraries. */
async function sendToWebhook(
  { url, secret }: Of<'webhook'>,
  { id, message, createdAt }: Delivery,
  { agent, now }: Context,
): Promise<void> {
  const body = JSON.stringify(toWebhookBody(message, createdAt));
  const timestamp = String(Math.floor(now() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'trellis',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const response = await post({ url, headers, body }, agent);
  assertAccepted(response);
}

async function sendToSlack({ url }: Of<'slack'>, { message }: Delivery, { agent, origin }: Context): Promise<void> {
  const body = JSON.stringify({ text: toSlackText(message, `${origin()}/`) });
  assertAccepted(await post({ url, headers: { 'content-type': 'application/json' }, body }, agent));
}

/** A browser that was off for longer shows the board anyway. */
const PUSH_TTL_SECONDS = 86_400;

/** Status codes by which a push service reports a subscription that has ended (RFC 8030). */
const GONE = [404, 410];

/** The push service replaces a message by one with the same topic, and the browser one with the same tag. */
const MAX_TOPIC = 32;

async function sendToBrowser(
  { subscription }: Of<'web_push'>,
  { id, message }: Delivery,
  { agent, origin, readPushKeys }: Context,
): Promise<void> {
  const { default: webPush } = await import('web-push');
  const keys = await readPushKeys();
  const payload = JSON.stringify(toPushNotification(id, message, `${origin()}/`));
  const { endpoint, headers, body } = webPush.generateRequestDetails(subscription, payload, {
    vapidDetails: { subject: toSubject(origin()), ...keys },
    TTL: PUSH_TTL_SECONDS,
    topic: id.replaceAll('-', '').slice(0, MAX_TOPIC),
  });
  const { 'Content-Length': _length, ...sent } = headers;
  const response = await post({ url: endpoint, headers: sent, body }, agent);
  assertAccepted(response, GONE.includes(response.status));
}

/** Push services require a contact: an https URL or an e-mail address. */
function toSubject(origin: string): string {
  return origin.startsWith('https:') ? origin : `mailto:admin@${new URL(origin).hostname}`;
}
