/** The state of the file list. All of it is in the address, so that every state can be linked to. */
export interface SiteLocation {
  /** The name of a source; empty for all sources, or when the site has only one. */
  readonly source: string;
  /** The path below the root of the source; empty for the root. */
  readonly folder: string;
  /** The id of the file whose details are shown; empty for none. */
  readonly file: string;
  /** Matches a part of the names in the folder and below it; empty for no search. */
  readonly search: string;
  readonly sort: FileSortKey;
  readonly order: 'ASC' | 'DESC';
  readonly view: 'list' | 'pictures';
  /** Starts at 1. */
  readonly page: number;
}

export type FileSortKey = 'name' | 'size' | 'time';

/** The longest file name that file systems allow. */
export const MAX_SEARCH_LENGTH = 255;

export const ROOT_LOCATION: SiteLocation = {
  ...{ source: '', folder: '', file: '', search: '' },
  ...{ sort: 'name', order: 'ASC', view: 'pictures', page: 1 },
};

export const parseLocation = (query: Readonly<Record<string, string>>): SiteLocation => ({
  source: query.source ?? '',
  folder: query.folder ?? '',
  file: query.file ?? '',
  search: (query.search ?? '').slice(0, MAX_SEARCH_LENGTH),
  sort: query.sort === 'size' || query.sort === 'time' ? query.sort : 'name',
  order: query.order === 'DESC' ? 'DESC' : 'ASC',
  view: query.view === 'list' ? 'list' : 'pictures',
  page: parsePageNumber(query.page),
});

/** Parses a page number; returns 1 for invalid numbers and for those above 9,999,999. */
export const parsePageNumber = (text = ''): number => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1);

/** Returns the address of a state of the file list, without parameters that have their default. */
export function linkToLocation(place: SiteLocation): string {
  const changed = Object.entries(place).filter(([key, value]) => value !== ROOT_LOCATION[key as keyof SiteLocation]);
  const query = new URLSearchParams(changed.map(([key, value]) => [key, String(value)])).toString();
  return query === '' ? '/site' : `/site?${query}`;
}

/** Returns the state for a different folder, with the same sort order and view. */
export const withFolder = (place: SiteLocation, folder: string): SiteLocation => ({
  ...place,
  ...FOLDER_DEFAULTS,
  folder,
});

/** The parts of the state that don't apply to a different folder. */
const FOLDER_DEFAULTS = { file: '', search: '', page: 1 } as const;

/** Returns a regex for texts that contain this one in any case. macOS may decompose the accents in names of files (NFD). */
export const toPattern = (text: string): string =>
  `/${[...new Set([text.normalize('NFC'), text.normalize('NFD')].map(escapePattern))].join('|')}/i`;

/** Escapes a text for use in a regular expression. */
export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
