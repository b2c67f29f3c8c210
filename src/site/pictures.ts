import { LRUCache } from 'lru-cache';
import type { ImageSource } from '../images/source.js';
import type { RecordStore } from './record-store.js';
import type { SelectedColumn, SiteRecord } from './selection.js';

/** The files of the site that pictures are in. */
export interface Pictures {
  /** A file that holds these bytes, and is called so. */
  readonly find: (contentDigest: string, base?: string) => ImageSource | undefined;
  /** The files of some ids. */
  readonly findAll: (ids: readonly string[]) => ReadonlyMap<string, ImageSource>;
  /** The file of an id, if it was found before and no record has changed since. */
  readonly known: (id: string) => ImageSource | undefined;
}

const column = (name: string, from = name, holds: SelectedColumn['holds'] = 'value'): SelectedColumn => ({
  kind: 'column',
  name,
  column: from,
  holds,
});

const SOURCE = {
  values: [
    ...['id', 'absolutePath', 'relativePath', 'base', 'name', 'ext', 'size'].map((name) => column(name)),
    column('mtimeMs', 'mtimeMs', 'float'),
    column('contentDigest', 'internal.contentDigest'),
  ],
  relations: [],
};

/** So many ids at most may be in one list of a filter. */
const MAX_IDS = 5000;

/** Some 500 bytes each; a page that shows more pictures asks again. */
const MAX_KNOWN = 50_000;

export function createPictures(records: Pick<RecordStore, 'find' | 'page' | 'generation'>): Pictures {
  const known = new LRUCache<string, ImageSource>({ max: MAX_KNOWN });
  let generation = -1;

  function knownNow(): LRUCache<string, ImageSource> {
    if (records.generation !== generation) known.clear();
    generation = records.generation;
    return known;
  }

  return {
    find(contentDigest, base) {
      const filter = { internal: { contentDigest: { eq: contentDigest } }, base: { eq: base } };
      const file = records.find('File', { filter }, SOURCE);
      return file && asSource(file);
    },

    findAll(ids) {
      const found = new Map<string, ImageSource>();
      for (let start = 0; start < ids.length; start += MAX_IDS) {
        const filter = { id: { in: ids.slice(start, start + MAX_IDS) } };
        for (const file of records.page('File', { filter }, SOURCE).nodes) found.set(String(file.id), asSource(file));
      }
      const kept = knownNow();
      for (const [id, source] of found) kept.set(id, source);
      return found;
    },

    // Of a page of pictures, all are asked for: which of them was last is not worth noting.
    known: (id) => knownNow().peek(id),
  };
}

/** The selection has all that a source has. */
const asSource = (file: SiteRecord): ImageSource => file as unknown as ImageSource;
