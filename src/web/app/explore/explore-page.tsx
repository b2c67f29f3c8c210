import { useCallback, useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { Entries } from './entries.js';
import { ExploreFrame } from './explore-frame.js';
import { ExploreTools } from './explore-tools.js';
import { FilePanel } from './file-panel.js';
import { PAGE, readFolder } from './folder.js';
import type { Folder } from './folder.js';
import { Pager } from './pager.js';
import { inFolder, linkTo, toPlace } from './place.js';
import type { Place } from './place.js';
import { Sources } from './sources.js';
import { Trail } from './trail.js';
import './explore.css';

/** The page that browses the folders and files of the site. */
export function ExplorePage() {
  const { query } = useLocation();
  const place = toPlace(query);
  // The opened file and the view don't change the content of the list, so they don't reload it.
  const shown = linkTo({ ...place, file: '', view: 'pictures' });
  const load = useCallback(() => readFolder(place), [shown]);
  const folder = useResource(load);
  useReloadOnReturn(folder.reload);
  return (
    <ExploreFrame title="Site files">
      <ExploreTools place={place} onRefresh={folder.reload} />
      <Trail place={place} />
      <div class={`explore ${place.file === '' ? '' : 'split'}`}>
        <div class="contents">
          <Loaded from={folder}>{(value) => <Contents place={place} folder={value} />}</Loaded>
        </div>
        {place.file !== '' && <FilePanel key={place.file} place={place} onDeleted={folder.reload} />}
      </div>
    </ExploreFrame>
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

function Contents({ place, folder }: { readonly place: Place; readonly folder: Folder }) {
  const { search, source, folder: path } = place;
  if (!folder.isThere) {
    return (
      <p>
        This folder doesn’t exist or was deleted. <a href={linkTo(inFolder(place, ''))}>Back to the top folder</a>
      </p>
    );
  }
  if (folder.sources.length > 1 && source === '' && path === '' && search === '') {
    return <Sources names={folder.sources} place={place} />;
  }
  return (
    <>
      <p class="quiet" role="status">
        {toSummary(place, folder)}
      </p>
      <Entries place={place} folder={folder} />
      <Pager
        page={place.page}
        count={folder.folderCount + folder.fileCount}
        size={PAGE}
        linkTo={(page) => linkTo({ ...place, page })}
      />
    </>
  );
}

function toSummary({ search }: Place, { folderCount, fileCount }: Folder): string {
  if (folderCount + fileCount === 0) {
    return search === '' ? 'This folder is empty.' : `No name contains “${search}”.`;
  }
  const counts = [count(folderCount, 'folder'), count(fileCount, 'file')].filter((text) => text !== '').join(', ');
  return search === '' ? counts : `${counts} with “${search}” in the name, subfolders included`;
}

const count = (number: number, noun: string): string =>
  number === 0 ? '' : `${number.toLocaleString()} ${noun}${number === 1 ? '' : 's'}`;
