import { useCallback, useEffect } from 'preact/hooks';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { findKind, findRecord, isRecordName } from './record.js';
import type { RecordName, SiteRecord } from './record.js';
import { Panel } from './panel.js';
import { linkTo } from './place.js';
import type { Place } from './place.js';
import { Portrait } from './portrait.js';
import { RecordDetails } from './record-details.js';
import { RecordFields } from './record-fields.js';

const FILE = findKind('File');

interface FilePanelProps {
  readonly place: Place;
  /** Called when the file no longer exists, so that the list reloads. */
  readonly onDeleted: () => Promise<void>;
}

/** The details of a file: a preview of an image, the fields of the file, and those of its child records. */
export function FilePanel({ place, onDeleted }: FilePanelProps) {
  const { file: id } = place;
  const load = useCallback(async () => (FILE && (await findRecord(FILE, id))) ?? null, [id]);
  const file = useResource(load);
  const isDeleted = file.value === null;
  useEffect(() => {
    if (isDeleted) void onDeleted();
  }, [isDeleted, onDeleted]);
  const title = typeof file.value?.base === 'string' ? file.value.base : 'File';
  return (
    <Panel title={title} closeTo={linkTo({ ...place, file: '' })} openedBy={`file-${id}`}>
      <Loaded from={file}>
        {(value) => (value === null ? <p role="status">This file was moved or deleted.</p> : <Details file={value} />)}
      </Loaded>
    </Panel>
  );
}

function Details({ file }: { readonly file: SiteRecord }) {
  const children = Array.isArray(file.children) ? file.children.filter(isRecordName) : [];
  const isImage = children.some(({ internal }) => internal.type === 'ImageProc');
  return (
    <>
      {isImage && <Portrait id={String(file.id)} />}
      <p class="acts">
        {typeof file.publicURL === 'string' && (
          <a class="button" href={file.publicURL} download={String(file.base)}>
            Download
          </a>
        )}
        {isImage && (
          <a class="button main" href={`/explore/recipe?${new URLSearchParams({ file: String(file.id) }).toString()}`}>
            Transform image
          </a>
        )}
      </p>
      <h3>File</h3>
      {FILE && <RecordFields kind={FILE} record={file} />}
      {children.map((record) => (
        <ChildRecord key={record.id} record={record} />
      ))}
    </>
  );
}

function ChildRecord({ record: { id, internal } }: { readonly record: RecordName }) {
  const kind = findKind(internal.type);
  if (kind === undefined) return null;
  return (
    <>
      <h3>{kind.kind}</h3>
      <RecordDetails kind={kind} id={id} />
    </>
  );
}
