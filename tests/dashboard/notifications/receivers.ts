/** Receivers of notifications, made of programs of other projects where there are any. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { SMTPServer } from 'smtp-server';
import { importFromTool } from '../../../tools/install.js';
import { findFreePort } from '../../contract/free-port.js';

export interface ReceivedMail {
  readonly to: readonly string[];
  /** The message with its headers, as it was sent. */
  readonly text: string;
}

export interface MailServer {
  readonly url: string;
  readonly mails: ReceivedMail[];
  /** The response to the next messages, instead of their acceptance. */
  refusal: { readonly responseCode: number; readonly message: string } | undefined;
  /** The response to the sender of the next messages. */
  senderRefusal: MailServer['refusal'];
  close(): Promise<void>;
}

interface MailServerOptions {
  readonly port?: number;
  /** Whether it offers STARTTLS, with a certificate that has expired. */
  readonly offersTls?: boolean;
}

/** Starts the mail server of nodemailer's makers. It accepts the user "mona" with the password "s3cret". */
export async function startMailServer({ port = 0, offersTls = false }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const toError = (refusal: MailServer['refusal']): Error | undefined =>
    refusal && Object.assign(new Error(refusal.message), refusal);
  const server = new SMTPServer({
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    // Warns of its default certificate otherwise.
    logger: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === 'mona' && password === 's3cret' ? done(null, { user: username }) : done(new Error('Wrong password')),
    onMailFrom: (_address, _session, done) => done(toError(receiver.senderRefusal)),
    onRcptTo: (_address, _session, done) => done(toError(receiver.refusal)),
    onData: (stream, { envelope }, done) => {
      void buffer(stream).then((bytes) => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), text: decodeMail(bytes.toString()) });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  const address = listening.address() as AddressInfo;
  const receiver: MailServer = {
    url: `smtp://mona:s3cret@127.0.0.1:${address.port}`,
    mails,
    refusal: undefined,
    senderRefusal: undefined,
    async close() {
      await promisify((done: () => void) => server.close(done))();
    },
  };
  return receiver;
}

/** Decodes quoted-printable lines. */
const decodeMail = (text: string): string =>
  text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpReceiver {
  readonly url: string;
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** The status and headers of the responses. */
  response: { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };
  /** Called for each request instead of a response. */
  hold: (() => void) | undefined;
  close(): Promise<void>;
}

/** Starts a receiver of requests that responds to all of them alike. */
export async function startHttpReceiver(port = 0): Promise<HttpReceiver> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      receiver.hold?.();
      if (receiver.hold !== undefined) return;
      const { status, headers, body: text } = receiver.response;
      response.writeHead(status, headers).end(text ?? 'ok');
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: used } = server.address() as AddressInfo;
  const receiver: HttpReceiver = {
    url: `http://127.0.0.1:${used}`,
    port: used,
    requests,
    response: { status: 200 },
    hold: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return receiver;
}

/** The parts of the package `web-push-testing` in use. */
interface PushApi {
  notifyUrl: string;
  subscribe(options: { readonly applicationServerKey: string }): Promise<PushSubscription>;
  getNotifications(of: { readonly clientHash: string }): { readonly messages: readonly string[] };
  expireSubscription(clientHash: string): void;
}

interface PushSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  readonly clientHash: string;
}

type PushServerClass = new (api: PushApi, port: number) => { _server: Server; startServer(): void };

export interface PushServer extends Omit<PushApi, 'notifyUrl'> {
  /** Ends the server for a time; subscriptions stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Starts a push server of another project, which verifies the signature of each request by the key of the subscription,
 * and decrypts the message.
 */
export async function startPushServer(): Promise<PushServer> {
  const load = async (name: string) =>
    ((await importFromTool('tools/witnesses', `web-push-testing/src/${name}.js`)) as { default: unknown }).default;
  const { PushApiModel } = (await load('PushApiModel')) as { PushApiModel: new () => PushApi };
  const port = await findFreePort();
  const api = new PushApiModel();
  const server = new ((await load('server')) as PushServerClass)(api, port);
  api.notifyUrl = `http://127.0.0.1:${port}/notify/`;
  const start = async (): Promise<void> => {
    const { log } = console;
    // It prints its port.
    console.log = () => undefined;
    try {
      server.startServer();
      await once(server._server, 'listening');
    } finally {
      console.log = log;
    }
  };
  await start();
  return {
    subscribe: (options) => api.subscribe(options),
    getNotifications: (of) => api.getNotifications(of),
    expireSubscription: (clientHash) => api.expireSubscription(clientHash),
    start,
    async stop() {
      server._server.closeAllConnections();
      await promisify((done: () => void) => server._server.close(done))();
    },
  };
}
