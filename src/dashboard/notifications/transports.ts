/** The transports of messages: requests to addresses that users have entered, and the mail server of the operator. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';
import type { Transporter } from 'nodemailer';
import { type AddressPolicy, AddressRefusedError, type ForgeAgent } from '../forges/http/fetch-response.js';
import { readRetryAfter } from '../forges/http/requests.js';

/** Receivers answer within a second or two; slower ones would occupy the queue. */
const TIMEOUT_MS = 10_000;

/** The end of a response is of no interest; the connection is closed then. */
const MAX_RESPONSE_BYTES = 4_096;

/** A receiver can't postpone a message for longer. */
const MAX_RETRY_AFTER_MS = 6 * 3_600_000;

interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

interface PostResponse {
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

/**
 * Sends a POST request, and reads the beginning of the response. Redirects are not followed.
 *
 * @throws DeliveryError if the address is refused or doesn't respond.
 */
export async function post({ url, headers, body }: PostRequest, agent: ForgeAgent): Promise<PostResponse> {
  const { dispatcher, fetch } = await agent();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, dispatcher, signal, redirect: 'manual' });
    const retryAfterMs = findRetryDelay(response.headers, Date.now());
    // The receiver has decided by its status, also if the body does not end or the connection breaks.
    const text = await readStart(response.body).catch(() => '');
    return { status: response.status, text, retryAfterMs };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.cause : undefined;
    if (reason instanceof AddressRefusedError) throw new DeliveryError(REFUSED, { cause, isPermanent: true });
    throw new DeliveryError(toReason(signal.aborted, reason), { cause });
  }
}

const REFUSED = 'The address is in a private or reserved range, to which the server does not connect.';

function toReason(isTimedOut: boolean, reason: unknown): string {
  if (isTimedOut) return `The address did not respond within ${TIMEOUT_MS / 1_000} seconds.`;
  const { code = '' } = (reason ?? {}) as { readonly code?: unknown };
  return `The address could not be reached${/^[A-Z_]{1,40}$/.test(String(code)) ? ` (${String(code)})` : ''}.`;
}

async function readStart(body: AsyncIterable<unknown> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk as Uint8Array);
    length += (chunk as Uint8Array).byteLength;
    if (length >= MAX_RESPONSE_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString();
}

function findRetryDelay(headers: Pick<Headers, 'get'>, at: number): number | undefined {
  const until = readRetryAfter(headers, at);
  return until && Math.min(Math.max(until - at, 0), MAX_RETRY_AFTER_MS);
}

/**
 * Reports a response without success. Requests are repeated after 408, 425, 429 and 5xx.
 *
 * @param isGone Whether the status means that the receiver has removed the channel.
 */
export function assertAccepted({ status, text, retryAfterMs }: PostResponse, isGone = false): void {
  if (status >= 200 && status < 300) return;
  const isRepeatable = status >= 500 || [408, 425, 429].includes(status);
  throw new DeliveryError(`The address responded with status ${status}${toCode(text)}.`, {
    ...{ isPermanent: !isRepeatable, isGone },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Shows the codes that Slack and Mattermost respond with, such as `no_service`, and nothing else. */
const toCode = (text: string): string => (/^[a-z_]{3,60}$/.test(text.trim()) ? ` (${text.trim()})` : '');

const RESOLVE_MS = 5_000;

/**
 * Checks whether the server may connect to a URL.
 *
 * @returns the expected value in words, if it may not.
 */
export async function findUrlProblem(url: string, policy: AddressPolicy): Promise<string | undefined> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain = parsed && /^https?:$/.test(parsed.protocol) && parsed.username + parsed.password === '';
  if (!isPlain) return 'an http or https URL without credentials';
  const refused = policy.resolve(parsed).then(
    (addresses) => addresses.length === 0,
    (error: unknown) => error instanceof AddressRefusedError || 'unknown',
  );
  const result = await Promise.race([refused, sleep(RESOLVE_MS, 'unknown' as const, { ref: false })]);
  if (result === 'unknown') return `a URL with an existing host; ${parsed.hostname} was not found`;
  return result ? 'a URL with a public address' : undefined;
}

export interface SmtpOptions {
  /** `smtp:` or `smtps:`, with the credentials. */
  readonly url: string;
  /** The sender's address. */
  readonly from: string;
}

interface Mailer {
  /** @throws DeliveryError unless the mail server has accepted the message. */
  send(mail: OutgoingMail): Promise<void>;
  close(): void;
}

interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Identifies the message, so that mail servers recognize a repetition. */
  readonly id: string;
}

/** A mail server that takes longer for a step is treated as unreachable. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000, dnsTimeout: 5_000 };

/** Connects at the first message. The package takes a while to load, and few servers need it. */
export function createMailer({ url, from }: SmtpOptions, origin: () => string): Mailer {
  let transport: Promise<Transporter> | undefined;
  return {
    async send({ id, ...mail }) {
      transport ??= openTransport(url);
      const { hostname } = new URL(origin());
      try {
        await (
          await transport
        ).sendMail({
          ...mail,
          from,
          messageId: `<${id}@${hostname}>`,
          // Vacation responders don't answer to it (RFC 3834).
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
      } catch (error) {
        throw toDeliveryError(error);
      }
    },
    close: () => void transport?.then((open) => open.close()),
  };
}

async function openTransport(url: string): Promise<Transporter> {
  const { createTransport } = await import('./nodemailer.js');
  return createTransport({ url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
}

interface SmtpError {
  readonly code?: string;
  readonly errno?: number;
  readonly message: string;
  /** The reason of an error of TLS. */
  readonly reason?: string;
  /** The SMTP command that was rejected. */
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

/** Errors about the message or its receiver. Others are about the connection or the account, which an operator corrects. */
const OF_MESSAGE = ['EENVELOPE', 'EMESSAGE'];

/** A mail server rejects with 5xx for good, and with 4xx for now (RFC 5321). */
function toDeliveryError(error: unknown): DeliveryError {
  const { code = '', command, responseCode = 0, response } = error as SmtpError;
  // The sender is the same for all messages.
  const isOfMessage = OF_MESSAGE.includes(code) && command !== 'MAIL FROM';
  const isPermanent = isOfMessage && responseCode >= 500;
  const reason =
    response === undefined
      ? `could not be reached (${toCause(error as SmtpError)})`
      : `responded: ${toPrintable(response)}`;
  return new DeliveryError(`The mail server ${reason}`, { isPermanent, cause: error });
}

/** Returns the code of the system, such as ECONNREFUSED without the address, or else the text, such as "certificate has expired". */
const toCause = ({ errno, message, reason = message }: SmtpError): string =>
  errno === undefined ? toPrintable(reason) : getSystemErrorName(errno);

const toPrintable = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ');

interface DeliveryErrorOptions extends ErrorOptions {
  /** Whether a repetition would fail too. */
  readonly isPermanent?: boolean;
  /** Whether the channel no longer exists at its receiver. */
  readonly isGone?: boolean;
  /** How long the receiver asks to wait. */
  readonly retryAfterMs?: number;
}

/** The contract's limit, which leaves room for most responses of mail servers. */
const MAX_MESSAGE = 500;

/** A failed attempt to send a message. Its message is shown to the user. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly isPermanent: boolean;
  readonly isGone: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    { isPermanent = false, isGone = false, retryAfterMs, ...options }: DeliveryErrorOptions = {},
  ) {
    super(message.slice(0, MAX_MESSAGE), options);
    this.isPermanent = isPermanent || isGone;
    this.isGone = isGone;
    this.retryAfterMs = retryAfterMs;
  }
}
