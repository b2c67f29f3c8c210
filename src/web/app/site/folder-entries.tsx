import { useState } from 'preact/hooks';
import { formatDateTime } from '../ui/times.js';
import type { FileEntry, FolderPage, FolderEntry } from './folder.js';
import { FileIcon, FolderIcon } from './icons.js';
import { withFolder, linkToLocation } from './site-location.js';
import type { SiteLocation } from './site-location.js';
import { useArrowKeys } from './use-arrow-keys.js';

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
