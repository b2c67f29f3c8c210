import { useState } from 'preact/hooks';
import {
  type DirectoryFieldsEnum,
  type FileFieldsEnum,
  type FilesQuery,
  type FoldersQuery,
  graphql,
} from '../../../generated/queries/queries.js';
import { formatDateTime } from '../ui/times.js';
import { useArrowKeys } from './entry-list.js';
import { querySitePartially } from './query-site.js';
import {
  escapePattern,
  type FileSortKey,
  linkToLocation,
  type SiteLocation,
  toPattern,
  withFolder,
} from './site-location.js';

interface EntriesProps {
  readonly place: SiteLocation;
  readonly folder: FolderPage;
}

/** The folders and files of a folder. The list is one tab stop; the arrow keys move within it. */
export function FolderEntries({ place, folder: { folders, files, sources } }: EntriesProps) {
  const list = useArrowKeys(`${linkToLocation(place)} ${folders.length + files.length}`);
  if (folders.length + files.length === 0) return null;
  const hasSources = sources.length > 1;
  return (
    <ul ref={list} class={`entries ${place.view}`} aria-label="Folders and files">
      {folders.map((folder) => (
        <FolderItem key={folder.id} {...{ place, folder, hasSources }} />
      ))}
      {files.map((file) => (
        <FileItem key={file.id} {...{ place, file, hasSources }} />
      ))}
    </ul>
  );
}

interface ItemProps {
  readonly place: SiteLocation;
  /** Whether the site has several sources, so that addresses of folders contain the source. */
  readonly hasSources: boolean;
}

function FolderItem({ place, folder, hasSources }: ItemProps & { readonly folder: FolderEntry }) {
  const { name, relativePath, sourceInstanceName, modifiedTime } = folder;
  const source = hasSources ? sourceInstanceName : place.source;
  return (
    <li>
      <a href={linkToLocation({ ...withFolder(place, relativePath), source })}>
        <span class="picture">
          <FolderIcon />
        </span>
        <span class="name">
          {name}
          <span class="aside">(folder)</span>
        </span>
        <small class="quiet size">{place.search !== '' && `in ${toParentPath(folder, hasSources)}`}</small>
        <small class="quiet time">{formatDateTime(modifiedTime)}</small>
      </a>
    </li>
  );
}

function FileItem({ place, file, hasSources }: ItemProps & { readonly file: FileEntry }) {
  const { id, base, prettySize, modifiedTime } = file;
  return (
    <li>
      <a
        id={`file-${id}`}
        href={linkToLocation({ ...place, file: id })}
        aria-current={id === place.file ? 'true' : undefined}
      >
        <Thumbnail file={file} />
        <span class="name">{base}</span>
        <small class="quiet size">
          {prettySize}
          {place.search !== '' && ` in ${toParentPath(file, hasSources)}`}
        </small>
        <small class="quiet time">{formatDateTime(modifiedTime)}</small>
      </a>
    </li>
  );
}

function toParentPath({ relativePath, sourceInstanceName }: FolderEntry, hasSources: boolean): string {
  const path = hasSources ? `${sourceInstanceName}/${relativePath}` : relativePath;
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : 'the top folder';
}

/** A thumbnail of an image. Other files and unreadable images show an icon with the extension. */
function Thumbnail({ file: { extension, childImageProc } }: { readonly file: FileEntry }) {
  const [isBroken, setBroken] = useState(false);
  const image = childImageProc?.fixed;
  return (
    <span class="picture">
      {image && !isBroken ? (
        <img
          src={image.src}
          srcset={image.srcSet}
          alt=""
          width={200}
          height={150}
          loading="lazy"
          decoding="async"
          onError={() => setBroken(true)}
        />
      ) : (
        <FileIcon extension={extension} />
      )}
    </span>
  );
}

/** The sources of a site that has several, shown as top-level folders. */
export function SourceList({ names, place }: { readonly names: readonly string[]; readonly place: SiteLocation }) {
  return (
    <ul class="entries pictures" aria-label="Sources">
      {names.map((name) => (
        <li key={name}>
          <a href={linkToLocation({ ...place, source: name, page: 1 })}>
            <span class="picture">
              <FolderIcon />
            </span>
            <span class="name">{name}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

const FolderIcon = () => (
  <svg class="folder" viewBox="0 0 48 40" width={72} height={60} aria-hidden="true">
    <path d="M2 6a4 4 0 0 1 4-4h11l5 5h20a4 4 0 0 1 4 4v23a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4z" />
    <path class="front" d="M2 15h44v19a4 4 0 0 1-4 4H6a4 4 0 0 1-4-4z" />
  </svg>
);

/** A sheet with the file extension on it. */
const FileIcon = ({ extension }: { readonly extension: string }) => (
  <svg class="file" viewBox="0 0 40 48" width={60} height={72} aria-hidden="true">
    <path d="M5 1h20l10 10v33a3 3 0 0 1-3 3H5a3 3 0 0 1-3-3V4a3 3 0 0 1 3-3z" />
    <path class="fold" d="M25 1v10h10" />
    <text x="18.5" y="34" text-anchor="middle">
      {extension.slice(0, 5)}
    </text>
  </svg>
);

type FolderEntry = FoldersQuery['found']['nodes'][number];

type FileEntry = FilesQuery['found']['nodes'][number];

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
  const matchesName = { [name]: { regex: toPattern(search) } };
  return folder === '' ? matchesName : { ...matchesName, relativePath: { regex: `/^${escapePattern(folder)}\\//` } };
}
