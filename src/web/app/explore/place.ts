/** What of the site's files is shown, all of which is in the address, so that any of it can be linked to. */
export interface Place {
  /** Empty where the site has one source only, or for all of them. */
  readonly source: string;
  /** Below the root of its source, which is empty. */
  readonly folder: string;
  /** The id of the file whose details are shown beside. */
  readonly file: string;
  /** A part of the names that are looked for, here and below. */
  readonly search: string;
  readonly sort: Sort;
  readonly order: 'ASC' | 'DESC';
  readonly view: 'list' | 'pictures';
  /** Counted from 1. */
  readonly page: number;
}

export type Sort = 'name' | 'size' | 'time';

/** A longer one than a file may have finds nothing. */
export const MAX_SEARCH = 255;

export const HOME: Place = {
  ...{ source: '', folder: '', file: '', search: '' },
  ...{ sort: 'name', order: 'ASC', view: 'pictures', page: 1 },
};

export const toPlace = (query: Readonly<Record<string, string>>): Place => ({
  source: query.source ?? '',
  folder: query.folder ?? '',
  file: query.file ?? '',
  search: (query.search ?? '').slice(0, MAX_SEARCH),
  sort: query.sort === 'size' || query.sort === 'time' ? query.sort : 'name',
  order: query.order === 'DESC' ? 'DESC' : 'ASC',
  view: query.view === 'list' ? 'list' : 'pictures',
  page: toPage(query.page),
});

/** Beyond a billion records there is nothing. */
export const toPage = (text = ''): number => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1);

/** The address of a place; what is as usual is left out. */
export function linkTo(place: Place): string {
  const said = Object.entries(place).filter(([key, value]) => value !== HOME[key as keyof Place]);
  const query = new URLSearchParams(said.map(([key, value]) => [key, String(value)])).toString();
  return query === '' ? '/explore' : `/explore?${query}`;
}

/** Another folder, shown in the same way. */
export const inFolder = (place: Place, folder: string): Place => ({ ...place, ...AFRESH, folder });

/** What belongs to what one leaves. */
const AFRESH = { file: '', search: '', page: 1 } as const;
