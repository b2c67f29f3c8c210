import type { BuildProgress } from '@trellis/images/store/build-and-prune';
import { Command } from 'commander';
import prettyBytes from 'pretty-bytes';
import { loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import { StartupError } from '../config/startup-error.js';
import { openProgressBar } from './progress-bar.js';
import { addServerOptions } from './server-options.js';
import type { ImagesCommandOptions, QueryFailure, StoredImages } from './stored-images.js';

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** `trellis images`: generates the images of the site's stored queries ahead of time. */
export function imagesCommand(): Command {
  const images = new Command('images').description("Manage the images of the site's stored queries");
  const { site, state, imagesQuota, imagePixels } = CONFIG_OPTIONS;
  addServerOptions(images.command('build'), site, state, imagesQuota, imagePixels)
    .description('Generate the missing images; an interrupted run continues where it stopped')
    .option('--quiet', 'print failures only')
    .action((flags: Flags) => runSiteCommand(flags, buildStoredImages));
  addServerOptions(images.command('prune'), site, state, imagesQuota)
    .description('Remove the images that no stored query requests; their links generate them again')
    .option('--dry-run', 'print the files without removing them')
    .option('--quiet', 'print failures only')
    .action((flags: Flags) =>
      runSiteCommand(flags, (options) => pruneStoredImages({ ...options, dryRun: flags.dryRun === true })),
    );
  return images;
}

/**
 * Runs a command on the site, and sets the exit code that `work` returns. The first SIGINT lets running work finish; a second one ends the process at
 * once.
 */
export async function runSiteCommand(
  flags: Flags,
  work: (options: ImagesCommandOptions) => Promise<number>,
): Promise<void> {
  const settings = Object.entries(flags).filter(([, value]) => typeof value === 'string');
  const config = await loadConfig({ flags: Object.fromEntries(settings) as Record<string, string> });
  const stopped = new AbortController();
  const onSignal = (): void => stopped.abort();
  process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
  try {
    process.exitCode = await work({
      config,
      signal: stopped.signal,
      terminal: process.stderr,
      quiet: flags.quiet === true,
      print: (line) => void process.stdout.write(`${line}\n`),
    });
  } finally {
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
  }
}

// Loaded late, so that --help and errors in the configuration do not wait for the modules of the site.
const loadStoredImages = () => import('./stored-images.js');

/**
 * Generates the missing images of the site's stored queries. Returns the exit code: 1 when an image could not be
 * generated.
 *
 * @throws StartError for a site, a query or a state folder that can't be used.
 */
export async function buildStoredImages(options: ImagesCommandOptions): Promise<number> {
  const { withStoredImages } = await loadStoredImages();
  const startedAt = performance.now();
  return withStoredImages(options, async (stored) => {
    const reasons = new Map<string, number>();
    const note = (message: string): void => void reasons.set(message, (reasons.get(message) ?? 0) + 1);
    for (const { message } of stored.failures) note(message);
    const progress = await build(stored, options, note);
    const { evicted } = stored.imaging.images.quota;
    if (evicted > 0) note(`${count(evicted, 'file')} evicted: raise TRELLIS_IMAGES_QUOTA to store all of them.`);
    for (const [reason, count] of reasons) {
      options.terminal.write(`trellis: ${count > 1 ? `${count} times: ` : ''}${reason}\n`);
    }
    if (!options.quiet) options.print(summarize(stored, progress, performance.now() - startedAt));
    return reasons.size > 0 ? 1 : 0;
  });
}

async function build(
  { imaging, links }: StoredImages,
  { terminal, quiet, signal }: ImagesCommandOptions,
  note: (reason: string) => void,
): Promise<BuildProgress> {
  const view = await openProgressBar(terminal, { quiet, items: 'images', hasEstimate: true });
  try {
    return await imaging.images.build(links, {
      signal,
      onProgress: ({ done, total, failed }) => view.show(done, total, failed),
      onFailure: (_link, { message }) => note(message),
    });
  } finally {
    view.stop();
  }
}

function summarize(
  { queries, failures }: StoredImages,
  { total, made, failed }: BuildProgress,
  milliseconds: number,
): string {
  const existing = total - made - failed;
  const parts = [`${count(made, 'image')} generated`, `${existing} already present`, `${failed} failed`];
  const fieldErrors = failures.length > 0 ? `; ${count(failures.length, 'field')} failed` : '';
  const requestedBy = `${queries} stored ${queries === 1 ? 'query' : 'queries'}`;
  return `${parts.join(', ')}${fieldErrors}; requested by ${requestedBy}, in ${(milliseconds / 1000).toFixed(1)} s.`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

interface PruneCommandOptions extends ImagesCommandOptions {
  /** Lists the files that would be removed, and removes nothing. */
  readonly dryRun: boolean;
}

/**
 * Removes the images that no stored query requests. Returns the exit code.
 *
 * @throws StartError for a site, a query or a state folder that can't be used, and when a query fails, as its images
 * would be removed.
 */
export async function pruneStoredImages({ dryRun, ...options }: PruneCommandOptions): Promise<number> {
  const { withStoredImages } = await loadStoredImages();
  return withStoredImages(options, async ({ imaging: { images, pictures }, links, failures }) => {
    assertComplete(failures);
    const { files, bytes } = await images.prune({
      used: links,
      dryRun,
      onRemove({ path, bytes: size }) {
        const [contentDigest = ''] = path.split('/');
        const picture = pictures.find(contentDigest)?.relativePath ?? 'a deleted file';
        if (dryRun) options.print(`${path}  ${prettyBytes(size)}  of ${picture}`);
      },
    });
    const what = `${files} image${files === 1 ? '' : 's'} (${prettyBytes(bytes)})`;
    if (!options.quiet) options.print(dryRun ? `${what} would be removed.` : `${what} removed.`);
    return 0;
  });
}

/** Accepts errors of files that are not images, which have no derived images; any other error could hide some. */
function assertComplete(failures: readonly QueryFailure[]): void {
  const bad = failures.find(({ code }) => code !== 'unprocessable');
  if (bad) throw new StartupError(`${bad.message} Nothing was removed, because this error hides requested images`);
}
