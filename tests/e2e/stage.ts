import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startServer } from '../running-server.js';
import type { RunningServer } from '../running-server.js';
import { openBrowser } from './chromium.js';
import { signUp } from './sign-up.js';
import type { VirtualAuthenticatorOptions } from './virtual-authenticator.js';

/** A server, and the browser of its owner, who has signed in. */
export interface Stage {
  readonly server: RunningServer;
  readonly context: BrowserContext;
  readonly page: Page;
  /** The server's, which it keeps everything in. */
  readonly state: string;
  /** Every request so far, with its headers and body. */
  readonly requests: readonly string[];
  /** What no page may do: complain on the console, fail, ask another origin, or be refused by the server; emptied by reading. */
  takeComplaints(): string[];
  close(): Promise<void>;
}

/** Answers that are no failure: nobody is signed in yet, nothing is set, and there is no board. */
const EXPECTED = /^(?:401 GET \/api\/auth\/session|404 GET \/api\/(?:settings\/\w+|dashboard(?:\/stream)?))$/;

/** Much longer than anything takes, on a busy machine too: a page that is right is never waited for so long. */
const PATIENCE_MS = 60_000;

export interface StageOptions extends VirtualAuthenticatorOptions {
  /** Which services the server runs, as `dashboard,secrets`; all of them unless said. */
  readonly services?: string;
  /** What else the server is started with. */
  readonly args?: readonly string[];
}

export async function openStage({ services, args = [], ...device }: StageOptions = {}): Promise<Stage> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-stage-'));
  const all = [...(services === undefined ? [] : ['--services', services]), '--state', state, ...args];
  const [server, browser] = await Promise.all([startServer(all, { LOG_LEVEL: 'info' }), openBrowser()]);
  const context = await browser.newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.origin });
  const { requests, complaints } = listen(context, server.origin);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await server.printed('#setup=');
  await signUp(page, /http:\S+#setup=\S+/.exec(server.output())?.[0] ?? '', 'ada', device);
  return {
    ...{ server, context, page, state, requests },
    takeComplaints: () => complaints.splice(0),
    close: () => close(browser, server, state),
  };
}

function listen(context: BrowserContext, origin: string) {
  const requests: string[] = [];
  const complaints: string[] = [];
  context.on('console', (message) => {
    // Chromium writes every answer of 400 and more there; they are looked at below.
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.origin !== origin) complaints.push(`request to ${url.origin}`);
    requests.push([request.method(), url.href, JSON.stringify(request.headers()), request.postData()].join('\n'));
  });
  context.on('response', (response) => {
    const told = `${response.status()} ${response.request().method()} ${new URL(response.url()).pathname}`;
    if (response.status() >= 400 && !EXPECTED.test(told)) complaints.push(told);
  });
  return { requests, complaints };
}

async function close(browser: Browser, server: RunningServer, state: string): Promise<void> {
  await browser.close();
  await server.stop();
  await rm(state, { recursive: true, force: true });
}
