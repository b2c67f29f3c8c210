/** Sends messages by the protocol of a channel. */
import { createHmac, createECDH } from 'node:crypto';
import type { PushSubscription } from 'web-push';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import {
  type AddressPolicy,
  createAddressPolicy,
  createAgent,
  type ForgeAgent,
} from '../forges/http/fetch-response.js';
import { type Message, toPlainText, toPushNotification, toSlackText, toWebhookBody } from './messages.js';
import { DeliveryError, assertAccepted, post, createMailer, type SmtpOptions } from './transports.js';

export type ChannelKind = components['schemas']['NotificationChannelKind'];

/** Where a channel sends its messages to. */
export type ChannelAddress =
  | { readonly kind: 'email'; readonly address: string }
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'web_push'; readonly subscription: PushSubscription }
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string };

/** A message with the properties that are the same in each attempt. */
interface Delivery {
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

// The key pair that identifies this server to push services (VAPID, RFC 8292).

/** Both keys in base64url. */
interface PushKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

export const PUSH_KEYS_CONTEXT = 'push keys';

/** Creates a function that returns the keys of the database, and stores new ones at first. */
export function createPushKeys(database: Database, key: ServerKey): () => Promise<PushKeys> {
  let known: PushKeys | undefined;
  return async () => (known ??= await getOrCreate(database, key));
}

async function getOrCreate(database: Database, key: ServerKey): Promise<PushKeys> {
  const row = await inTransaction(database, async (transaction) => {
    const found = await transaction.selectFrom('push_keys').selectAll().executeTakeFirst();
    if (found !== undefined) return found;
    const { publicKey, privateKey } = generateKeys();
    const created = { id: 1, public_key: publicKey, sealed: key.encrypt(privateKey, PUSH_KEYS_CONTEXT) };
    const insert = transaction.insertInto('push_keys').values(created);
    // Another server may have inserted its keys first.
    await insert.onConflict((conflict) => conflict.column('id').doNothing()).execute();
    return transaction.selectFrom('push_keys').selectAll().executeTakeFirstOrThrow();
  });
  return { publicKey: row.public_key, privateKey: key.decrypt(row.sealed, PUSH_KEYS_CONTEXT) };
}

const PRIVATE_KEY_BYTES = 32;

/** Generates a key pair on P-256. */
function generateKeys(): PushKeys {
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys('base64url');
  // Leading zeros are part of the key.
  const privateKey = Buffer.concat([Buffer.alloc(PRIVATE_KEY_BYTES), pair.getPrivateKey()]).subarray(
    -PRIVATE_KEY_BYTES,
  );
  return { publicKey, privateKey: privateKey.toString('base64url') };
}
