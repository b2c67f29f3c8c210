import type { ImageSource } from '../images/source.js';
import type { RecordQueries } from './record-queries.js';
import type { SelectedColumn, SiteRecord } from './selection.js';

/** The files of the site that pictures are in. */
export interface Pictures {
  /** A file that holds these bytes, and is called so. */
  readonly find: (contentDigest: string, base?: string) => ImageSource | undefined;
  /** The files of some ids. */
  readonly findAll: (ids: readonly string[]) => ReadonlyMap<string, ImageSource>;
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

export const createPictures = (records: RecordQueries): Pictures => ({
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
    return found;
  },
});

/** The selection has all that a source has. */
const asSource = (file: SiteRecord): ImageSource => file as unknown as ImageSource;
