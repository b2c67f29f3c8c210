import { useCallback, useEffect } from 'preact/hooks';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { findRecordType, findRecord, isRecordReference } from './record.js';
import type { RecordReference, RecordData } from './record.js';
import { DetailsPanel } from './details-panel.js';
import { linkToLocation } from './site-location.js';
import type { SiteLocation } from './site-location.js';
import { ImagePreview } from './image-preview.js';
import { RecordDetails } from './record-details.js';
import { RecordFields } from './record-fields.js';

const FILE = findRecordType('File');

interface FilePanelProps {
  readonly place: SiteLocation;
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
    <DetailsPanel title={title} closeTo={linkToLocation({ ...place, file: '' })} openedBy={`file-${id}`}>
      <AsyncContent from={file}>
        {(value) => (value === null ? <p role="status">This file was moved or deleted.</p> : <Details file={value} />)}
      </AsyncContent>
    </DetailsPanel>
  );
}

function Details({ file }: { readonly file: RecordData }) {
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
      {FILE && <RecordFields kind={FILE} record={file} />}
      {children.map((record) => (
        <ChildRecord key={record.id} record={record} />
      ))}
    </>
  );
}

function ChildRecord({ record: { id, internal } }: { readonly record: RecordReference }) {
  const kind = findRecordType(internal.type);
  if (kind === undefined) return null;
  return (
    <>
      <h3>{kind.kind}</h3>
      <RecordDetails kind={kind} id={id} />
    </>
  );
}
