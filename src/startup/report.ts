/** The report of a server that can serve requests. */
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FAULT_TEXTS, findStorageFault } from '@trellis/core/storage';
import type { Log } from '@trellis/server/http/request';
import type { Accounts } from '../accounts/accounts.js';
import type { Config } from '../config/config.js';
import { toStartupError } from '../config/startup-error.js';
import type { OpenSite } from '../site-data/service.js';
import { announce } from '../telemetry/log.js';
import type { Services } from './services.js';

interface ReportOptions {
  readonly log: Log;
  readonly origin: string;
  /** When the process started, on the clock of `performance.now()`. */
  readonly startedAt: number;
  /** The address of the metrics, if they are served. */
  readonly metricsUrl: string | undefined;
  /** Prints the setup link on a terminal; absent for a log. */
  readonly print: ((line: string) => void) | undefined;
  /** Waits until the other processes of this server serve the site too. */
  readonly waitForOthers?: () => Promise<unknown>;
}

/**
 * Waits for the site, logs that the server is ready, and offers the setup link.
 *
 * @returns a function that stops watching the use of the setup link.
 * @throws StartError when the site can't be opened and no other service runs.
 */
export async function reportReady(services: Services, config: Config, options: ReportOptions): Promise<() => void> {
  const { log, origin, startedAt, metricsUrl, print, waitForOthers } = options;
  const site = await waitForSite(services, config);
  if (site) await waitForOthers?.();
  const lines = describe({ ...services, site }, config, { origin, milliseconds: performance.now() - startedAt });
  if (isOpenToNetwork(config)) lines.push(OPEN_TO_NETWORK(config.host));
  if (metricsUrl !== undefined) lines.push(`The metrics are at ${metricsUrl}`);
  for (const line of lines) announce(log, line);
  if (config.accounts === 'none') return () => undefined;
  const say = print ?? ((line: string): void => announce(log, line));
  return offerSetupLink(services.accounts, {
    origin,
    state: config.state,
    isTerminal: print !== undefined,
    print: say,
  });
}

/** Waits for the first attempt to open the site. A failure ends the startup only if no other service runs. */
async function waitForSite({ site, readiness }: Services, config: Config): Promise<OpenSite | undefined> {
  if (site === undefined) return undefined;
  readiness.waitFor(site.firstAttempt);
  return site.firstAttempt.catch((error: unknown) => {
    if (config.services.length === 1) throw toStartupError(error, config);
    return undefined;
  });
}

interface Started {
  readonly version: string;
  readonly site: OpenSite | undefined;
}

const isOpenToNetwork = ({ services, siteAccess, isLoopback }: Config): boolean =>
  services.includes('site') && siteAccess.kind === 'public' && !isLoopback;

const OPEN_TO_NETWORK = (host: string): string =>
  `Anyone who can reach ${host} can read the site. TRELLIS_SITE_ACCESS=people or token restricts this.`;

function describe(
  { version, site: open }: Started,
  { workers }: Pick<Config, 'workers'>,
  { origin, milliseconds }: { readonly origin: string; readonly milliseconds: number },
): string[] {
  const ready = `Trellis ${version} ready at ${origin}${workers > 1 ? ` - ${workers} workers` : ''}`;
  if (!open) return [`${ready} - started in ${toTime(milliseconds)}.`];
  const { files, directories, images, privateLeftOut, late, milliseconds: scan } = open.site.summary;
  const counts = `${count(files, 'file')} in ${count(directories, 'folder')}, ${count(images, 'image')}`;
  const leftOut = `${count(privateLeftOut, 'private name')} left out, such as those that start with a dot, and keys.`;
  return [
    `${ready} - ${counts}, scanned in ${toTime(scan)}, started in ${toTime(milliseconds)}.`,
    `Explore the site's data at ${origin}/graphql`,
    ...(privateLeftOut > 0 ? [`Site: ${leftOut}`] : []),
    ...(late > 0
      ? [`Site: ${count(late, 'large file')} still being read; the digests and links of these files follow.`]
      : []),
  ];
}

const count = (number: number, noun: string) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;

const toTime = (milliseconds: number) =>
  milliseconds < 100 ? `${Math.ceil(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

// The setup link of the first account: on a terminal, or in a file that only the server's user can read.

/** The name of the file in the state folder. */
const SETUP_LINK_FILE = 'setup-link';

/** How soon the file disappears after the link was used, at this or a different server. */
const CHECK_MS = 5_000;

interface SetupLinkOptions {
  readonly origin: string;
  readonly state: string;
  /** Whether `print` writes to a terminal rather than to a log. */
  readonly isTerminal: boolean;
  readonly print: (line: string) => void;
}

/**
 * Offers the setup link until an account exists. Its secret is in the fragment, which browsers never send, so it appears
 * in no access log; and no log of the server's output receives it. A link of an earlier start is offered again while it
 * is valid.
 *
 * @returns a function that stops watching the use of the link.
 */
async function offerSetupLink(accounts: Accounts, options: SetupLinkOptions): Promise<() => void> {
  const { origin, state, isTerminal, print } = options;
  const file = join(state, SETUP_LINK_FILE);
  const secret = await accounts.setupLink.create(await readSecret(file));
  if (secret === undefined) {
    await rm(file, { force: true }).catch(() => undefined);
    return () => undefined;
  }
  const link = `${origin}/sign-in#setup=${secret}`;
  if (isTerminal) {
    print('No accounts yet. Create the admin account with this link (valid once, for 1 hour):');
    print(link);
    return () => undefined;
  }
  try {
    await writePrivate(file, `${link}\n`);
  } catch (error) {
    const fault = findStorageFault(error);
    if (fault === undefined) throw error;
    print(`No accounts yet, and the setup link can't be written to ${file}: ${FAULT_TEXTS[fault]}.`);
    return () => undefined;
  }
  print(`No accounts yet. The link that creates the admin account (valid once, for 1 hour) is in ${file}`);
  return deleteAfterUse(accounts, file);
}

/** Reads the secret of the file that an earlier start has written. */
async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /#setup=([\w-]+)/.exec(text)?.[1];
}

async function writePrivate(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

function deleteAfterUse({ registration }: Accounts, file: string): () => void {
  const timer = setInterval(() => {
    registration
      .isOpen()
      .then(async (isOpen) => {
        if (isOpen) return;
        clearInterval(timer);
        await rm(file, { force: true });
      })
      // The next check, or the next start, deletes it.
      .catch(() => undefined);
  }, CHECK_MS).unref();
  return () => clearInterval(timer);
}
