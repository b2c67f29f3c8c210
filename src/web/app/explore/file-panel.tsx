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
  /** When there is no such file any more, which the list does not know yet. */
  readonly onGone: () => Promise<void>;
}

/** All that is known of a file: the picture, its own fields, and those of the records that were made from it. */
export function FilePanel({ place, onGone }: FilePanelProps) {
  const { file: id } = place;
  const load = useCallback(async () => (FILE && (await findRecord(FILE, id))) ?? null, [id]);
  const file = useResource(load);
  const isGone = file.value === null;
  useEffect(() => {
    if (isGone) void onGone();
  }, [isGone, onGone]);
  const title = typeof file.value?.base === 'string' ? file.value.base : 'File';
  return (
    <Panel title={title} closeTo={linkTo({ ...place, file: '' })} openedBy={`file-${id}`}>
      <Loaded from={file}>
        {(value) =>
          value === null ? <p role="status">This file is gone. It was moved or deleted.</p> : <Details file={value} />
        }
      </Loaded>
    </Panel>
  );
}

function Details({ file }: { readonly file: SiteRecord }) {
  const made = Array.isArray(file.children) ? file.children.filter(isRecordName) : [];
  const isImage = made.some(({ internal }) => internal.type === 'ImageProc');
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
            Make images of it
          </a>
        )}
      </p>
      <h3>File</h3>
      {FILE && <RecordFields kind={FILE} record={file} />}
      {made.map((record) => (
        <Made key={record.id} record={record} />
      ))}
    </>
  );
}

function Made({ record: { id, internal } }: { readonly record: RecordName }) {
  const kind = findKind(internal.type);
  if (kind === undefined) return null;
  return (
    <>
      <h3>{kind.kind}</h3>
      <RecordDetails kind={kind} id={id} />
    </>
  );
}
