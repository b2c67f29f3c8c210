import type { BuildProgress } from '../images/store/build-and-prune.js';
import { openProgressBar } from './progress-bar.js';
import { withStoredImages } from './stored-images.js';
import type { ImagesCommandOptions, StoredImages } from './stored-images.js';

/**
 * Generates the missing images of the site's stored queries. Returns the exit code:
 * 1 when an image could not be generated.
 *
 * @throws StartError for a site, a query or a state folder that can't be used.
 */
export function buildStoredImages(options: ImagesCommandOptions): Promise<number> {
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
  const view = openProgressBar(terminal, { quiet, items: 'images', hasEstimate: true });
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
