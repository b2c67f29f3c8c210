/** The report of a server that can serve requests. */
import type { Log } from '@trellis/server/http/request';
import type { Config } from '../config/config.js';
import { toStartupError } from '../config/startup-error.js';
import type { OpenSite } from '../site-data/service.js';
import { announce } from '../telemetry/log.js';
import type { Services } from './services.js';
import { offerSetupLink } from './setup-link.js';

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
  if (!config.hasAccounts) return () => undefined;
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
  const leftOut = `${count(privateLeftOut, 'private name')} left out (docs/site-data.md, "What visitors can see").`;
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
