import type { ImageSource } from '@trellis/images/source';
import type { SelectedColumn, SiteRecord } from '@trellis/site/query/record-queries';
import type { SiteRecords } from '@trellis/site/stored-records';
import { LRUCache } from 'lru-cache';

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
