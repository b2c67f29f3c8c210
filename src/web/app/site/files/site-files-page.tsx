import '../site.css';
import { useLocation } from 'preact-iso';
import { useCallback } from 'preact/hooks';
import { AsyncContent, useReloadOnReturn, useResource } from '../../ui/resource.js';
import { Pagination } from '../entry-list.js';
import { SiteLayout } from '../site-layout.js';
import { linkToLocation, parseLocation, type SiteLocation, withFolder } from '../site-location.js';
import { FileListControls } from './file-list-controls.js';
import { FilePanel } from './file-panel.js';
import { FolderEntries, SourceList } from './folder-entries.js';
import { FOLDER_PAGE_SIZE, type FolderPage, readFolderPage } from './folder.js';

/** The page that browses the folders and files of the site. */
export function SiteFilesPage() {
  const { query } = useLocation();
  const place = parseLocation(query);
  // The opened file and the view don't change the content of the list, so they don't reload it.
  const shown = linkToLocation({ ...place, file: '', view: 'pictures' });
  const load = useCallback(() => readFolderPage(place), [shown]);
  const folder = useResource(load);
  useReloadOnReturn(folder.reload);
  return (
    <SiteLayout title="Site files">
      <FileListControls place={place} onRefresh={folder.reload} />
      <Breadcrumbs place={place} />
      <div class={`explore ${place.file === '' ? '' : 'split'}`}>
        <div class="contents">
          <AsyncContent from={folder}>{(value) => <Contents place={place} folder={value} />}</AsyncContent>
        </div>
        {place.file !== '' && <FilePanel key={place.file} place={place} onDeleted={folder.reload} />}
      </div>
    </SiteLayout>
  );
}

function Contents({ place, folder }: { readonly place: SiteLocation; readonly folder: FolderPage }) {
  const { search, source, folder: path } = place;
  if (!folder.exists) {
    return (
      <p>
        This folder doesn’t exist or was deleted.{' '}
        <a href={linkToLocation(withFolder(place, ''))}>Back to the top folder</a>
      </p>
    );
  }
  if (folder.sources.length > 1 && source === '' && path === '' && search === '') {
    return <SourceList names={folder.sources} place={place} />;
  }
  return (
    <>
      <p class="quiet" role="status">
        {toSummary(place, folder)}
      </p>
      <FolderEntries place={place} folder={folder} />
      <Pagination
        page={place.page}
        count={folder.folderCount + folder.fileCount}
        size={FOLDER_PAGE_SIZE}
        linkTo={(page) => linkToLocation({ ...place, page })}
      />
    </>
  );
}

function toSummary({ search }: SiteLocation, { folderCount, fileCount }: FolderPage): string {
  if (folderCount + fileCount === 0) {
    return search === '' ? 'This folder is empty.' : `No name contains “${search}”.`;
  }
  const counts = [count(folderCount, 'folder'), count(fileCount, 'file')].filter((text) => text !== '').join(', ');
  return search === '' ? counts : `${counts} with “${search}” in the name, subfolders included`;
}

const count = (number: number, noun: string): string =>
  number === 0 ? '' : `${number.toLocaleString()} ${noun}${number === 1 ? '' : 's'}`;

/** Breadcrumbs: links to the parent folders. */
function Breadcrumbs({ place }: { readonly place: SiteLocation }) {
  const { source, folder } = place;
  const parts = folder === '' ? [] : folder.split('/');
  const below = parts.map((part, index) => [part, withFolder(place, parts.slice(0, index + 1).join('/'))] as const);
  const steps = [
    ['Site', { ...withFolder(place, ''), source: '' }] as const,
    ...(source === '' ? [] : [[source, withFolder(place, '')] as const]),
    ...below,
  ];
  return (
    <nav aria-label="Breadcrumbs">
      <ol class="trail">
        {steps.map(([name, step], index) => (
          <li key={linkToLocation(step)}>
            <a href={linkToLocation(step)} aria-current={index === steps.length - 1 ? 'location' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
