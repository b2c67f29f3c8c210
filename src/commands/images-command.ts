import { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import { CONFIG_OPTIONS } from '../config/options.js';
import type { ImagesCommandOptions } from './stored-images.js';

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** `trellis images`: generates the images of the site's stored queries ahead of time. */
export function imagesCommand(): Command {
  const images = new Command('images').description("Manage the images of the site's stored queries");
  withSettings(images.command('build'))
    .description('Generate the missing images; an interrupted run continues where it stopped')
    .option('--quiet', 'print failures only')
    .action(async (flags: Flags) => {
      const { buildStoredImages } = await import('./build-images.js');
      await run(flags, buildStoredImages);
    });
  withSettings(images.command('prune'))
    .description('Remove the images that no stored query requests; their links generate them again')
    .option('--dry-run', 'print the files without removing them')
    .option('--quiet', 'print failures only')
    .action(async (flags: Flags) => {
      const { pruneStoredImages } = await import('./prune-images.js');
      await run(flags, (options) => pruneStoredImages({ ...options, dryRun: flags.dryRun === true }));
    });
  return images;
}

function withSettings(command: Command): Command {
  command.option('--config <file>', 'configuration file (default: trellis.config.* in the working directory)');
  for (const { flag, description, env } of [CONFIG_OPTIONS.site, CONFIG_OPTIONS.state, CONFIG_OPTIONS.imagesQuota]) {
    command.option(flag, `${description} [${env}]`);
  }
  return command;
}

/** The action of a command; returns the exit code. */
type Work = (options: ImagesCommandOptions) => Promise<number>;

/** The first SIGINT lets running work finish; a second one ends the process at once. */
async function run(flags: Flags, work: Work): Promise<void> {
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
