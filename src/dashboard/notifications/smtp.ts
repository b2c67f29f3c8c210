/** Sends e-mail through the mail server of the operator. */
import type { Transporter } from 'nodemailer';
import { DeliveryError } from './delivery-error.js';

export interface SmtpOptions {
  /** `smtp:` or `smtps:`, with the credentials. */
  readonly url: string;
  /** The sender's address. */
  readonly from: string;
}

export interface Mailer {
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

/** A mail server that takes longer is treated as unreachable. In all, an attempt takes less than the lease. */
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
  readonly responseCode?: number;
  readonly response?: string;
}

/** Errors about the message or its receiver. Others are about the connection or the account, which an operator corrects. */
const OF_MESSAGE = ['EENVELOPE', 'EMESSAGE'];

/** A mail server rejects with 5xx for good, and with 4xx for now (RFC 5321). */
function toDeliveryError(error: unknown): DeliveryError {
  const { code = '', responseCode = 0, response } = error as SmtpError;
  const isPermanent = OF_MESSAGE.includes(code) && responseCode >= 500;
  const reason = response === undefined ? `could not be reached (${code})` : `responded: ${toPrintable(response)}`;
  return new DeliveryError(`The mail server ${reason}`, { isPermanent, cause: error });
}

const toPrintable = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ');
