import type { ImageSource } from '@trellis/images/source';
import type { SelectedColumn, SiteRecord } from '@trellis/site/query/record-queries';
import type { SiteRecords } from '@trellis/site/stored-records';
import { LRUCache } from 'lru-cache';
import { type AheadLog, type WorkAhead, workAhead } from './ahead.js';
import type { OpenSite, PreviewCounts } from './service.js';

/** Finds the files of the site that contain images. */
export interface ImageSources {
  /** Returns a file with this digest and, if given, this name. */
  readonly find: (contentDigest: string, base?: string) => ImageSource | undefined;
  /** Returns the files with these ids. */
  readonly findAll: (ids: readonly string[]) => ReadonlyMap<string, ImageSource>;
  /** Returns the file with an id if it is cached and no record has changed since. */
  readonly known: (id: string) => ImageSource | undefined;
}

const COLUMNS = ['absolutePath', 'relativePath', 'base', 'name', 'ext', 'size', 'mtimeMs'];

const column = (name: string, from = name): SelectedColumn => ({
  kind: 'column',
  name,
  column: from,
  holds: name === 'mtimeMs' ? 'float' : 'value',
});

const SELECTION = {
  values: [...['id', ...COLUMNS].map((name) => column(name)), column('contentDigest', 'internal.contentDigest')],
  relations: [],
};

/** The maximum number of ids in one list of a filter. */
const MAX_IDS = 5000;

/** An entry takes about 500 bytes. A page with more images than this queries again. */
const MAX_KNOWN = 50_000;

export function createImageSources(records: Pick<SiteRecords, 'first' | 'page' | 'generation'>): ImageSources {
  const known = new LRUCache<string, ImageSource>({ max: MAX_KNOWN });
  /** The files behind requested links, by digest and name. */
  const linked = new LRUCache<string, ImageSource>({ max: MAX_KNOWN });
  let generation = -1;

  function forgetIfChanged(): void {
    if (records.generation !== generation) for (const cache of [known, linked]) cache.clear();
    generation = records.generation;
  }

  function read(contentDigest: string, base?: string): ImageSource | undefined {
    const values = { 'internal.contentDigest': contentDigest, ...(base !== undefined && { base }) };
    const file = records.first('File', COLUMNS, values);
    return file && asSource({ ...file, contentDigest });
  }

  return {
    find(contentDigest, base) {
      forgetIfChanged();
      const key = `${contentDigest}/${base ?? ''}`;
      const found = linked.get(key) ?? read(contentDigest, base);
      if (found) linked.set(key, found);
      return found;
    },

    findAll(ids) {
      const found = new Map<string, ImageSource>();
      for (let start = 0; start < ids.length; start += MAX_IDS) {
        const filter = { id: { in: ids.slice(start, start + MAX_IDS) } };
        for (const file of records.page('File', { filter }, SELECTION).nodes)
          found.set(String(file.id), asSource(file));
      }
      forgetIfChanged();
      for (const [id, source] of found) known.set(id, source);
      return found;
    },

    // A page requests all of its images, so tracking the order of use would not help.
    known(id) {
      forgetIfChanged();
      return known.peek(id);
    },
  };
}

/** Safe because the columns contain all fields of an image source. */
const asSource = (file: SiteRecord): ImageSource => file as unknown as ImageSource;

/** The previews of a site's images, which are rendered ahead of the first query for them. */
export interface SitePreviews extends WorkAhead {
  /** Returns how many previews were rendered since the site was opened, and how many images are waiting. */
  count(): PreviewCounts;
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
  log: AheadLog,
): SitePreviews {
  const counts = { rendered: 0, waiting: 0 };

  function* listSources(ids: readonly string[] | undefined, signal: AbortSignal): Generator<ImageSource> {
    const filter = ids && { id: { in: [...ids] } };
    for (let skip = 0; !signal.aborted; skip += PAGE) {
      const { nodes } = store.page('ImageProc', { filter, skip, limit: PAGE }, PARENT);
      if (skip === 0) counts.waiting = ids ? nodes.length : (store.countRecords().ImageProc ?? 0);
      yield* pictures.findAll(nodes.map(({ parent }) => String(parent))).values();
      if (nodes.length < PAGE) return;
    }
  }

  async function prepare(ids: readonly string[] | undefined, signal: AbortSignal): Promise<number> {
    const before = counts.rendered;
    const onImage = (rendered: number): void => {
      counts.rendered += rendered;
      counts.waiting -= 1;
    };
    try {
      await images.preparePreviews(listSources(ids, signal), { signal, onImage });
    } finally {
      counts.waiting = 0;
    }
    return counts.rendered - before;
  }

  const name = 'Previews of images';
  return { ...workAhead({ store, kinds: ['ImageProc'], name, log, prepare }), count: () => ({ ...counts }) };
}
