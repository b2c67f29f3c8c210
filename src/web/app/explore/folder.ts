import { askInPart } from './ask.js';
import type { Place, Sort } from './place.js';

export interface FolderEntry {
  readonly id: string;
  readonly sourceInstanceName: string;
  readonly name: string;
  readonly relativePath: string;
  readonly modifiedTime: string;
}

export interface FileEntry extends FolderEntry {
  readonly base: string;
  readonly relativeDirectory: string;
  readonly extension: string;
  readonly prettySize: string;
  readonly childImageProc: { readonly fixed: { readonly src: string; readonly srcSet: string } | null } | null;
}

export interface Folder {
  /** Whether there is such a folder. */
  readonly isThere: boolean;
  /** The names of the site's sources. */
  readonly sources: readonly string[];
  readonly folders: readonly FolderEntry[];
  readonly files: readonly FileEntry[];
  /** On all pages together. */
  readonly folderCount: number;
  readonly fileCount: number;
}

/** So many folders and files are on a page; each may be a picture. */
export const PAGE = 60;

const FOLDERS = `query folders($here: DirectoryFilterInput!, $filter: DirectoryFilterInput!, $sort: DirectorySortInput, $skip: Int!, $limit: Int!) {
  here: allDirectory(filter: $here, limit: 0) { totalCount }
  sources: allDirectory { distinct(field: sourceInstanceName) }
  found: allDirectory(filter: $filter, sort: $sort, skip: $skip, limit: $limit) {
    totalCount
    nodes { id sourceInstanceName name relativePath modifiedTime }
  }
}`;

/** Pictures are asked for in a format that every browser shows, whatever the file is. */
const FILES = `query files($filter: FileFilterInput!, $sort: FileSortInput, $skip: Int!, $limit: Int!) {
  found: allFile(filter: $filter, sort: $sort, skip: $skip, limit: $limit) {
    totalCount
    nodes {
      id sourceInstanceName name base extension relativePath relativeDirectory prettySize modifiedTime
      childImageProc { fixed(width: 200, height: 150, toFormat: WEBP) { src srcSet } }
    }
  }
}`;

interface Found<Entry> {
  readonly totalCount: number;
  readonly nodes: readonly Entry[];
}

interface FoldersAnswer {
  readonly here: { readonly totalCount: number };
  readonly sources: { readonly distinct: readonly string[] };
  readonly found: Found<FolderEntry>;
}

/** One page of what lies in a folder, folders first; of what is called so here and below, where something is looked for. */
export async function readFolder(place: Place): Promise<Folder> {
  const { folder, sort, order, page } = place;
  const skip = (page - 1) * PAGE;
  const source = place.source === '' ? {} : { sourceInstanceName: { eq: place.source } };
  const { here, sources, found } = await askInPart<FoldersAnswer>(FOLDERS, {
    here: { ...source, relativePath: { eq: folder } },
    filter: { ...source, ...within(place, 'name'), not: { relativePath: { eq: '' } } },
    sort: { fields: [FOLDER_FIELDS[sort], 'relativePath'], order: [order, 'ASC'] },
    ...{ skip, limit: PAGE },
  });
  const { found: files } = await askInPart<{ readonly found: Found<FileEntry> }>(FILES, {
    filter: { ...source, ...within(place, 'base') },
    sort: { fields: [FILE_FIELDS[sort], 'relativePath'], order: [order, 'ASC'] },
    skip: Math.max(0, skip - found.totalCount),
    limit: PAGE - found.nodes.length,
  });
  return {
    isThere: here.totalCount > 0,
    sources: sources.distinct,
    folders: found.nodes,
    files: files.nodes,
    folderCount: found.totalCount,
    fileCount: files.totalCount,
  };
}

const FILE_FIELDS: Readonly<Record<Sort, string>> = { name: 'base', size: 'size', time: 'modifiedTime' };

/** The size of a folder tells nothing about what is in it. */
const FOLDER_FIELDS: Readonly<Record<Sort, string>> = { name: 'name', size: 'name', time: 'modifiedTime' };

/** Files directly in the folder; with something to look for, those below it too whose name has it, in capitals or not. */
function within({ folder, search }: Place, name: 'base' | 'name') {
  if (search === '') return { relativeDirectory: { eq: folder } };
  const named = { [name]: { regex: `/${escape(search)}/i` } };
  return folder === '' ? named : { ...named, relativePath: { regex: `/^${escape(folder)}\\//` } };
}

/** As a part of a pattern that stands for itself alone. */
const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
