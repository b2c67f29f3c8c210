import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { PATIENCE_MS } from '../../eventually.js';
import { openBrowser } from './chromium.js';
import { startHostedServer, type HostedServer } from './hosted-server.js';
import { createPageWatch, type PageWatch } from './page-watch.js';

/** A running server and a browser whose pages are watched for complaints. */
export interface WatchedServer extends PageWatch {
  readonly server: HostedServer;
  /** The state folder of the server. */
  readonly state: string;
  /** The link that creates the admin account; empty for servers without accounts. */
  readonly setupLink: string;
  /** Opens a browser context with separate cookies and long timeouts. */
  readonly enter: () => Promise<BrowserContext>;
  /** Closes the browser and stops the server. Fails if a page had a complaint that no test has taken. */
  close(): Promise<void>;
}

export interface WatchedServerOptions {
  /** The services that the server runs, such as `dashboard,secrets`; by default all of them. */
  readonly services?: string;
  /** Further command line arguments of the server. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Other origins that pages may open. */
  readonly elsewhere?: readonly string[];
  /** The device of the browser, by default a computer. */
  readonly device?: BrowserContextOptions;
}

export async function startWatchedServer({
  services,
  args = [],
  env = {},
  elsewhere,
  device,
}: WatchedServerOptions = {}): Promise<WatchedServer> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-house-'));
  const all = [...(services === undefined ? [] : ['--services', services]), '--state', state, ...args];
  const [server, browser] = await startBoth(startHostedServer(all, { LOG_LEVEL: 'info', ...env }), openBrowser());
  const { watch, ...watched } = createPageWatch(
    server.origin,
    elsewhere?.map((url) => new URL(url).origin),
  );
  // A server with only the site has no accounts and no setup link.
  if (services !== 'site') await server.printed('No accounts yet.');
  return {
    ...{ server, state, ...watched },
    setupLink: await readFile(join(state, 'setup-link'), 'utf8').then(
      (text) => text.trim(),
      () => '',
    ),
    async enter() {
      const context = await browser.newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB', ...device });
      context.setDefaultTimeout(PATIENCE_MS);
      watch(context);
      return context;
    },
    async close() {
      await browser.close();
      await server.stop();
      await rm(state, { recursive: true, force: true });
      expect(watched.takeComplaints()).toEqual([]);
    },
  };
}

/** Waits for both. If one fails, ends the other, which would stay in use. */
async function startBoth(server: Promise<HostedServer>, browser: Promise<Browser>): Promise<[HostedServer, Browser]> {
  try {
    return await Promise.all([server, browser]);
  } catch (error) {
    await Promise.allSettled([server.then((one) => one.stop()), browser.then((one) => one.close())]);
    throw error;
  }
}
