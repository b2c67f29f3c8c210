import { useCallback, useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { FolderEntries } from './folder-entries.js';
import { SiteLayout } from './site-layout.js';
import { FileListControls } from './file-list-controls.js';
import { FilePanel } from './file-panel.js';
import { FOLDER_PAGE_SIZE, readFolderPage } from './folder.js';
import type { FolderPage } from './folder.js';
import { Pagination } from './pagination.js';
import { withFolder, linkToLocation, parseLocation } from './site-location.js';
import type { SiteLocation } from './site-location.js';
import { SourceList } from './source-list.js';
import { Breadcrumbs } from './breadcrumbs.js';
import './site.css';

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

/** Reloads when the tab becomes visible again, as files may have changed in the meantime. */
function useReloadOnReturn(reload: () => Promise<void>): void {
  useEffect(() => {
    const onReturn = (): void => void (document.visibilityState === 'visible' && reload());
    document.addEventListener('visibilitychange', onReturn);
    return () => document.removeEventListener('visibilitychange', onReturn);
  }, [reload]);
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
