import type { ImageSource } from '@trellis/images/source';
import type { OpenSite, PreviewCounts } from './service.js';

/** The previews of a site's images, which are rendered ahead of the first query for them. */
export interface SitePreviews {
  /** Returns how many previews were rendered since the site was opened, and how many images are waiting. */
  count(): PreviewCounts;
  close(): void;
}

/** The images that are read from the records at a time. */
const PAGE = 500;

const PARENT = {
  values: [{ kind: 'column', name: 'parent', column: 'parent', holds: 'value' }],
  relations: [],
} as const;

/** Renders the previews of all images, and then those of images that were added or changed. */
export function prepareSitePreviews(
  { site: { store }, imaging: { images, pictures } }: Pick<OpenSite, 'imaging' | 'site'>,
  log: Readonly<Record<'info' | 'warn', (line: string) => void>>,
): SitePreviews {
  const closing = new AbortController();
  const { signal } = closing;
  const changes = store.changes.follow();
  const counts = { rendered: 0, waiting: 0 };

  /** @param ids Those of the images; absent for all. */
  function* listSources(ids?: readonly string[]): Generator<ImageSource> {
    const filter = ids && { id: { in: [...ids] } };
    for (let skip = 0; !signal.aborted; skip += PAGE) {
      const { nodes } = store.page('ImageProc', { filter, skip, limit: PAGE }, PARENT);
      if (skip === 0) counts.waiting = ids ? nodes.length : (store.countRecords().ImageProc ?? 0);
      yield* pictures.findAll(nodes.map(({ parent }) => String(parent))).values();
      if (nodes.length < PAGE) return;
    }
  }

  async function prepare(ids?: readonly string[]): Promise<void> {
    const [before, startedAt] = [counts.rendered, performance.now()];
    const onImage = (rendered: number): void => {
      counts.rendered += rendered;
      counts.waiting -= 1;
    };
    await images.preparePreviews(listSources(ids), { signal, onImage });
    counts.waiting = 0;
    const made = counts.rendered - before;
    if (made === 0 || signal.aborted) return;
    log.info(`Previews of images rendered ahead of queries: ${made} (${formatSeconds(startedAt)}).`);
  }

  async function follow(): Promise<void> {
    // The first change has no records, and stands for all of them.
    for await (const { kinds, ids, isTruncated } of changes) {
      if (signal.aborted) return;
      if (kinds.length > 0 && !kinds.includes('ImageProc')) continue;
      await prepare(kinds.length === 0 || isTruncated ? undefined : ids).catch((error: unknown) => {
        counts.waiting = 0;
        // Closing the site ends the jobs, and queries report the others.
        if (!signal.aborted) log.warn(`Previews of images are not rendered ahead of queries: ${String(error)}`);
      });
    }
  }

  void follow();
  return {
    count: () => ({ ...counts }),
    close() {
      closing.abort();
      void changes.return?.();
    },
  };
}

const formatSeconds = (startedAt: number): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
