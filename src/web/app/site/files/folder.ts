import {
  type FileFieldsEnum,
  type DirectoryFieldsEnum,
  type FilesQuery,
  type FoldersQuery,
  graphql,
} from '../../../../generated/queries/queries.js';
import { querySitePartially } from '../query-site.js';
import type { SiteLocation, FileSortKey } from '../site-location.js';

export type FolderEntry = FoldersQuery['found']['nodes'][number];

export type FileEntry = FilesQuery['found']['nodes'][number];

export interface FolderPage {
  /** Whether the folder exists. */
  readonly exists: boolean;
  /** The names of the site's sources. */
  readonly sources: readonly string[];
  readonly folders: readonly FolderEntry[];
  readonly files: readonly FileEntry[];
  /** The number of folders on all pages. */
  readonly folderCount: number;
  /** The number of files on all pages. */
  readonly fileCount: number;
}

/** The number of folders and files on a page. It is limited as each file may have a thumbnail. */
export const FOLDER_PAGE_SIZE = 60;

const FOLDERS = graphql(`
  query folders(
    $here: DirectoryFilterInput!
    $filter: DirectoryFilterInput!
    $sort: DirectorySortInput
    $skip: Int!
    $limit: Int!
  ) {
    here: allDirectory(filter: $here, limit: 0) {
      totalCount
    }
    sources: allDirectory {
      distinct(field: sourceInstanceName)
    }
    found: allDirectory(filter: $filter, sort: $sort, skip: $skip, limit: $limit) {
      totalCount
      nodes {
        id
        sourceInstanceName
        name
        relativePath
        modifiedTime
      }
    }
  }
`);

/** Thumbnails are WebP, which every browser shows, whatever the format of the file. */
const FILES = graphql(`
  query files($filter: FileFilterInput!, $sort: FileSortInput, $skip: Int!, $limit: Int!) {
    found: allFile(filter: $filter, sort: $sort, skip: $skip, limit: $limit) {
      totalCount
      nodes {
        id
        sourceInstanceName
        name
        base
        extension
        relativePath
        relativeDirectory
        prettySize
        modifiedTime
        childImageProc {
          fixed(width: 200, height: 150, toFormat: WEBP) {
            src
            srcSet
          }
        }
      }
    }
  }
`);

/**
 * Reads one page of a folder, folders first. With a search, the page lists matching names in the folder and below it.
 */
export async function readFolderPage(place: SiteLocation): Promise<FolderPage> {
  const { folder, sort, order, page } = place;
  const skip = (page - 1) * FOLDER_PAGE_SIZE;
  const source = place.source === '' ? {} : { sourceInstanceName: { eq: place.source } };
  const { here, sources, found } = await querySitePartially(FOLDERS, {
    here: { ...source, relativePath: { eq: folder } },
    filter: { ...source, ...within(place, 'name'), not: { relativePath: { eq: '' } } },
    sort: { fields: [FOLDER_FIELDS[sort], 'relativePath'], order: [order, 'ASC'] },
    ...{ skip, limit: FOLDER_PAGE_SIZE },
  });
  const { found: files } = await querySitePartially(FILES, {
    filter: { ...source, ...within(place, 'base') },
    sort: { fields: [FILE_FIELDS[sort], 'relativePath'], order: [order, 'ASC'] },
    skip: Math.max(0, skip - found.totalCount),
    limit: FOLDER_PAGE_SIZE - found.nodes.length,
  });
  return {
    exists: here.totalCount > 0,
    sources: sources.distinct,
    folders: found.nodes,
    files: files.nodes,
    folderCount: found.totalCount,
    fileCount: files.totalCount,
  };
}

const FILE_FIELDS: Readonly<Record<FileSortKey, FileFieldsEnum>> = { name: 'base', size: 'size', time: 'modifiedTime' };

/** The size of a folder says nothing about its content, so folders are sorted by name instead. */
const FOLDER_FIELDS: Readonly<Record<FileSortKey, DirectoryFieldsEnum>> = {
  name: 'name',
  size: 'name',
  time: 'modifiedTime',
};

/**
 * Returns the filter for entries directly in the folder, or, with a search, for names below it that contain the text in
 * any case.
 */
function within({ folder, search }: SiteLocation, name: 'base' | 'name') {
  if (search === '') return { relativeDirectory: { eq: folder } };
  const matchesName = { [name]: { regex: `/${escape(search)}/i` } };
  return folder === '' ? matchesName : { ...matchesName, relativePath: { regex: `/^${escape(folder)}\\//` } };
}

/** Escapes a text for use in a regular expression. */
const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
