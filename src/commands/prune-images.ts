import prettyBytes from 'pretty-bytes';
import { StartupError } from '../config/startup-error.js';
import type { QueryFailure } from './run-stored-query.js';
import { withStoredImages } from './stored-images.js';
import type { ImagesCommandOptions } from './stored-images.js';

export interface PruneCommandOptions extends ImagesCommandOptions {
  /** Lists the files that would be removed, and removes nothing. */
  readonly dryRun: boolean;
}

/**
 * Removes the images that no stored query requests. Returns the exit code.
 *
 * @throws StartError for a site, a query or a state folder that can't be used,
 * and when a query fails, as its images would be removed.
 */
export function pruneStoredImages({ dryRun, ...options }: PruneCommandOptions): Promise<number> {
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
