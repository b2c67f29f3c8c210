import { useCallback, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Heading } from '../shell/heading.js';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { FilePanel } from './file-panel.js';
import { PAGE, readFolder } from './folder.js';
import type { Folder } from './folder.js';
import './explore.css';

const linkTo = (folder: string, file?: string): string =>
  `/explore?${new URLSearchParams({ ...(folder !== '' && { folder }), ...(file !== undefined && { file }) }).toString()}`;

/** The site's files as a person walks through them. Folder and file are in the address, so that both can be linked to. */
export function ExplorePage() {
  const { query } = useLocation();
  const path = query.folder ?? '';
  const file = query.file;
  return (
    <>
      <Heading title="Site">Site files</Heading>
      <p>
        <a href="/graphql">Open the GraphQL explorer</a>
      </p>
      <Trail path={path} />
      <div class="explore">
        <Contents key={path} path={path} chosen={file} />
        {file !== undefined && <FilePanel key={file} id={file} onCloseTo={linkTo(path)} />}
      </div>
    </>
  );
}

function Trail({ path }: { readonly path: string }) {
  const parts = path === '' ? [] : path.split('/');
  return (
    <nav aria-label="Folders above">
      <ol class="trail">
        <li>
          <a href={linkTo('')}>Site</a>
        </li>
        {parts.map((part, index) => {
          const below = parts.slice(0, index + 1).join('/');
          return (
            <li key={below}>
              <a href={linkTo(below)} aria-current={index === parts.length - 1 ? 'location' : undefined}>
                {part}
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function Contents({ path, chosen }: { readonly path: string; readonly chosen: string | undefined }) {
  const [limit, setLimit] = useState(PAGE);
  const load = useCallback(() => readFolder(path, limit), [path, limit]);
  const folder = useResource(load);
  return (
    <div class="contents">
      <Loaded from={folder}>
        {(value) => (
          <>
            <Entries path={path} folder={value} chosen={chosen} />
            {value.files.length < value.fileCount && (
              <button type="button" onClick={() => setLimit(limit + PAGE)}>
                Show more ({value.fileCount - value.files.length} left)
              </button>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

interface EntriesProps {
  readonly path: string;
  readonly folder: Folder;
  readonly chosen: string | undefined;
}

function Entries({ path, folder: { folders, files }, chosen }: EntriesProps) {
  if (folders.length + files.length === 0) return <p>Nothing is in this folder.</p>;
  return (
    <ul class="entries">
      {folders.map(({ id, name, relativePath }) => (
        <li key={id}>
          <a href={linkTo(relativePath)}>
            <span class="picture folder" aria-hidden="true" />
            <span class="name">{name}/</span>
          </a>
        </li>
      ))}
      {files.map(({ id, base, extension, prettySize, childImageProc }) => (
        <li key={id}>
          <a href={linkTo(path, id)} aria-current={id === chosen ? 'true' : undefined}>
            <span class="picture">
              {childImageProc?.resize ? (
                <img src={childImageProc.resize.src} alt="" width={160} height={120} loading="lazy" decoding="async" />
              ) : (
                <span aria-hidden="true">{extension}</span>
              )}
            </span>
            <span class="name">{base}</span>
            <small class="quiet">{prettySize}</small>
          </a>
        </li>
      ))}
    </ul>
  );
}
