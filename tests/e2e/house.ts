import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { PATIENCE_MS } from '../eventually.js';
import { startServer } from '../running-server.js';
import type { RunningServer } from '../running-server.js';
import { openBrowser } from './chromium.js';
import { createWatch } from './watch.js';
import type { Watched } from './watch.js';

/** A server, and a browser in which everything that anybody's pages do is watched. */
export interface House extends Watched {
  readonly server: RunningServer;
  /** The server's, which it keeps everything in. */
  readonly state: string;
  /** The link that makes the first account. */
  readonly setupLink: string;
  /** Somebody with cookies of their own, and with much patience. */
  readonly enter: () => Promise<BrowserContext>;
  close(): Promise<void>;
}

export interface HouseOptions {
  /** Which services the server runs, as `dashboard,secrets`; all of them unless said. */
  readonly services?: string;
  /** What else the server is started with. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Other origins that links lead to. */
  readonly elsewhere?: readonly string[];
}

export async function openHouse({ services, args = [], env = {}, elsewhere }: HouseOptions = {}): Promise<House> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-house-'));
  const all = [...(services === undefined ? [] : ['--services', services]), '--state', state, ...args];
  const [server, browser] = await Promise.all([startServer(all, { LOG_LEVEL: 'info', ...env }), openBrowser()]);
  const { watch, ...watched } = createWatch(
    server.origin,
    elsewhere?.map((url) => new URL(url).origin),
  );
  // Without accounts there is none.
  if (services !== 'site') await server.printed('#setup=');
  return {
    ...{ server, state, ...watched },
    setupLink: /http:\S+#setup=\S+/.exec(server.output())?.[0] ?? '',
    async enter() {
      const context = await browser.newContext({ viewport: { width: 1200, height: 850 }, locale: 'en-GB' });
      context.setDefaultTimeout(PATIENCE_MS);
      watch(context);
      return context;
    },
    close: () => close(browser, server, state),
  };
}

async function close(browser: Browser, server: RunningServer, state: string): Promise<void> {
  await browser.close();
  await server.stop();
  await rm(state, { recursive: true, force: true });
}
