import './site.css';
import type { KindDescription } from '@trellis/core/record-types';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { graphql } from '../../../generated/queries/queries.js';
import { ActionButton } from '../ui/buttons.js';
import { ProblemText, Select } from '../ui/form.js';
import { AsyncContent, useReloadOnReturn, useResource } from '../ui/resource.js';
import { DetailsPanel, Pagination, SearchField } from './entry-list.js';
import { FolderEntries, type FolderPage, FOLDER_PAGE_SIZE, readFolderPage, SourceList } from './folder-entries.js';
import { loadRecordTypes, querySite } from './query-site.js';
import {
  findRecord,
  findRecordType,
  isRecordReference,
  type RecordData,
  RecordDetails,
  RecordFields,
} from './record.js';
import { SiteLayout } from './site-layout.js';
import { linkToLocation, MAX_SEARCH_LENGTH, parseLocation, type SiteLocation, withFolder } from './site-location.js';

/** The page that browses the folders and files of the site. */
export function SiteFilesPage() {
  const { query } = useLocation();
  const place = parseLocation(query);
  // The opened file and the view don't change the content of the list, so they don't reload it.
  const shown = linkToLocation({ ...place, file: '', view: 'pictures' });
  const load = useCallback(async () => ({ place, shown, content: await readFolderPage(place) }), [shown]);
  const folder = useResource(load);
  // After a failed request, entries of a different folder would be misleading.
  const isOutdated = folder.problem !== undefined && folder.value?.shown !== shown;
  useReloadOnReturn(folder.reload);
  return (
    <SiteLayout title="Site files">
      <FileListControls place={place} onRefresh={folder.reload} />
      <Breadcrumbs place={place} />
      <div class={`explore ${place.file === '' ? '' : 'split'}`}>
        <div class="contents">
          <AsyncContent from={isOutdated ? { ...folder, value: undefined } : folder}>
            {(loaded) => (
              <Contents place={{ ...loaded.place, file: place.file, view: place.view }} folder={loaded.content} />
            )}
          </AsyncContent>
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

interface ExploreToolsProps {
  readonly place: SiteLocation;
  readonly onRefresh: () => Promise<void>;
}

const ORDERS = [
  ['name ASC', 'Name, A to Z'],
  ['name DESC', 'Name, Z to A'],
  ['time DESC', 'Newest first'],
  ['time ASC', 'Oldest first'],
  ['size DESC', 'Largest first'],
  ['size ASC', 'Smallest first'],
] as const;

const VIEWS = [
  ['pictures', 'Thumbnails'],
  ['list', 'List'],
] as const;

/** The search, sort order and view of the file list. */
function FileListControls({ place, onRefresh }: ExploreToolsProps) {
  const { route } = useLocation();
  const go = (change: Partial<SiteLocation>): void => route(linkToLocation({ ...place, page: 1, ...change }), true);
  return (
    <form role="search" aria-label="Files" class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="selects">
        <SearchField
          key={`${place.source}/${place.folder}`}
          label="Search names"
          maxLength={MAX_SEARCH_LENGTH}
          search={place.search}
          onSearch={(search) => go({ search })}
        />
        <Select
          label="Sort by"
          value={`${place.sort} ${place.order}`}
          options={ORDERS}
          onValue={(value) => go(toOrder(value))}
        />
        <Select label="View" value={place.view} options={VIEWS} onValue={(view) => go({ view, page: place.page })} />
        <ActionButton onAct={onRefresh}>Reload</ActionButton>
      </div>
    </form>
  );
}

function toOrder(value: (typeof ORDERS)[number][0]): Pick<SiteLocation, 'order' | 'sort'> {
  const [sort, order] = value.split(' ') as [SiteLocation['sort'], SiteLocation['order']];
  return { sort, order };
}

interface FilePanelProps {
  readonly place: SiteLocation;
  /** Called when the file no longer exists, so that the list reloads. */
  readonly onDeleted: () => Promise<void>;
}

/** The details of a file: a preview of an image, the fields of the file, and those of its child records. */
function FilePanel({ place, onDeleted }: FilePanelProps) {
  const { file: id } = place;
  const load = useCallback(() => loadFile(id), [id]);
  const loaded = useResource(load);
  const isDeleted = loaded.value === null;
  useEffect(() => {
    if (isDeleted) void onDeleted();
  }, [isDeleted, onDeleted]);
  const base = loaded.value?.file.base;
  const title = typeof base === 'string' ? base : 'File';
  return (
    <DetailsPanel title={title} closeTo={linkToLocation({ ...place, file: '' })} openedBy={`file-${id}`}>
      <AsyncContent from={loaded}>
        {(value) => (value === null ? <p role="status">This file was moved or deleted.</p> : <Details {...value} />)}
      </AsyncContent>
    </DetailsPanel>
  );
}

interface LoadedFile {
  readonly file: RecordData;
  readonly types: readonly KindDescription[];
}

async function loadFile(id: string): Promise<LoadedFile | null> {
  const types = await loadRecordTypes();
  const kind = findRecordType(types, 'File');
  const file = kind && (await findRecord(kind, id));
  return file === undefined ? null : { file, types };
}

function Details({ file, types }: LoadedFile) {
  const kind = findRecordType(types, 'File');
  const children = Array.isArray(file.children) ? file.children.filter(isRecordReference) : [];
  const isImage = children.some(({ internal }) => internal.type === 'ImageProc');
  return (
    <>
      {isImage && <ImagePreview id={String(file.id)} />}
      <p class="acts">
        {typeof file.publicURL === 'string' && (
          <a class="button" href={file.publicURL} download={String(file.base)}>
            Download
          </a>
        )}
        {isImage && (
          <a class="button main" href={`/site/transform?${new URLSearchParams({ file: String(file.id) }).toString()}`}>
            Transform image
          </a>
        )}
      </p>
      <h3>File</h3>
      {kind && <RecordFields kind={kind} record={file} />}
      {children.map((record) => (
        <ChildRecord key={record.id} kind={findRecordType(types, record.internal.type)} id={record.id} />
      ))}
    </>
  );
}

function ChildRecord({ kind, id }: { readonly kind: KindDescription | undefined; readonly id: string }) {
  if (kind === undefined) return null;
  return (
    <>
      <h3>{kind.kind}</h3>
      <RecordDetails kind={kind} id={id} />
    </>
  );
}

const PREVIEW = graphql(`
  query preview($id: String!) {
    file(id: { eq: $id }) {
      childImageProc {
        fixed(width: 480, height: 320, fit: INSIDE, toFormat: WEBP) {
          width
          height
          src
          srcSet
        }
        original {
          width
          height
        }
      }
    }
  }
`);

/** A preview of an image file in a format that browsers show, with the size of the original. */
function ImagePreview({ id }: { readonly id: string }) {
  const [isBroken, setBroken] = useState(false);
  const load = useCallback(async () => (await querySite(PREVIEW, { id })).file?.childImageProc ?? null, [id]);
  const { value, problem } = useResource(load);
  if (isBroken || (problem !== undefined && value === undefined))
    return <p class="problem">{problem ? <ProblemText problem={problem} /> : 'The image can’t be shown.'}</p>;
  if (!value?.fixed) return <div class="portrait" />;
  const { fixed, original } = value;
  return (
    <figure class="portrait">
      <img {...size(fixed)} src={fixed.src} srcset={fixed.srcSet} alt="" onError={() => setBroken(true)} />
      {original && (
        <figcaption class="quiet">
          {original.width} × {original.height} pixels
        </figcaption>
      )}
    </figure>
  );
}

const size = ({ width, height }: { readonly width: number; readonly height: number }) => ({ width, height });
