import { useCallback, useEffect, useState } from 'preact/hooks';
import { graphql } from '../../../../generated/queries/queries.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { DetailsPanel } from '../details-panel.js';
import { querySite } from '../query-site.js';
import { RecordDetails, RecordFields } from '../record-fields.js';
import { findRecord, findRecordType, isRecordReference, type RecordData, type RecordReference } from '../record.js';
import { linkToLocation, type SiteLocation } from '../site-location.js';

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
  if (isBroken || problem !== undefined) return <p class="problem">{problem ?? 'The image can’t be shown.'}</p>;
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
