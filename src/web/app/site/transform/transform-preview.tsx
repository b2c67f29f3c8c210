import { useEffect, useState } from 'preact/hooks';
import { TableHead } from '../../ui/headings.js';
import type { TransformField } from './transform.js';
import type { TransformResult, TransformState } from './use-derived-image.js';

interface PreviewProps {
  readonly made: TransformState;
  readonly shape: TransformField;
  readonly isWritten: boolean;
}

/**
 * The derived images at their actual size. The previous images stay until the next ones are ready, to avoid layout
 * shifts.
 */
export function TransformPreview({ made, shape, isWritten }: PreviewProps) {
  const { image, problem, field, isCurrent } = made;
  return (
    <section aria-labelledby="the-preview" aria-busy={isWritten && !isCurrent}>
      <h2 id="the-preview">Preview</h2>
      {!isWritten && <p class="problem">Fix the highlighted fields to update the preview.</p>}
      {problem !== undefined && (
        <p class="problem" role={field === undefined ? 'alert' : undefined}>
          {problem}
        </p>
      )}
      {image ? <Images image={image} shape={shape} /> : <p class="quiet">Generating …</p>}
    </section>
  );
}

function Images({ image, shape }: { readonly image: TransformResult; readonly shape: TransformField }) {
  const [chosen, choose] = useState('');
  const { src, srcSet, base64, tracedSVG } = image;
  const candidates = srcSet ? parseSrcSet(srcSet) : src ? [{ src, descriptor: '' }] : [];
  const shown = candidates.find(({ descriptor }) => descriptor === chosen) ?? candidates.find((one) => one.src === src);
  const isDrawing = shape.name === 'traced';
  return (
    <>
      {shown && !isDrawing && <ActualSizeImage key={shown.src} candidate={shown} image={image} />}
      {candidates.length > 0 && !isDrawing && (
        <CandidatesTable candidates={candidates} shown={shown?.src ?? ''} onChoose={choose} />
      )}
      {tracedSVG && <Inline title="tracedSVG" src={tracedSVG} />}
      {base64 && <Inline title="base64" src={base64} />}
    </>
  );
}

/** An image that the response contains as a data URL. */
function Inline({ title, src }: { readonly title: string; readonly src: string }) {
  return (
    <figure class="inline">
      <div class="stage">
        <img src={src} alt={`Preview of ${title}`} />
      </div>
      <figcaption class="quiet">
        <code>{title}</code>, {src.length.toLocaleString()} characters in the response
      </figcaption>
    </figure>
  );
}

interface RealSizeProps {
  readonly candidate: ImageCandidate;
  readonly image: TransformResult;
}

/** An image at the size at which a page would show it. Larger images scroll in their frame. */
function ActualSizeImage({ candidate, image }: RealSizeProps) {
  const [isBroken, setBroken] = useState(false);
  const width = getCandidateWidth(candidate) ?? image.width ?? undefined;
  const name = decodeURIComponent(
    candidate.src.startsWith('data:') ? 'the image' : (candidate.src.split('/').at(-1) ?? ''),
  );
  if (isBroken) {
    return <p role="status">This browser can’t display {name}. Choose a different toFormat.</p>;
  }
  return (
    <div class="stage" tabIndex={0} role="region" aria-label="Image at actual size">
      <img src={candidate.src} width={width} alt={`Preview of ${name}`} onError={() => setBroken(true)} />
    </div>
  );
}

interface CandidatesProps {
  readonly candidates: readonly ImageCandidate[];
  /** The `src` of the image that is shown. */
  readonly shown: string;
  /** Called with the descriptor of the chosen image. */
  readonly onChoose: (descriptor: string) => void;
}

/** A table of all derived images with their size in bytes. The user selects the one that is shown. */
function CandidatesTable({ candidates, shown, onChoose }: CandidatesProps) {
  const bytes = useFileSizes(candidates.map(({ src }) => src));
  return (
    <table class="candidates" aria-label="Derived images">
      <TableHead names={['Image', 'Bytes', 'Link']} />
      <tbody>
        {candidates.map(({ src, descriptor }) => (
          <tr key={src}>
            <td>
              <label class="choice">
                <input type="radio" name="shown" checked={src === shown} onChange={() => onChoose(descriptor)} />
                {toName(descriptor)}
              </label>
            </td>
            <td>{toBytes(bytes.get(src))}</td>
            <td>{src.startsWith('data:') ? 'inline' : <a href={src}>Open</a>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function toName(descriptor: string): string {
  if (descriptor === '') return 'The image';
  const number = descriptor.slice(0, -1);
  return descriptor.endsWith('w') ? `${number} pixels wide` : `For ${number}× screens`;
}

function toBytes(size: number | null | undefined): string {
  if (size === undefined) return '…';
  return size === null ? 'failed' : size.toLocaleString();
}

/** The size in bytes of the image at each link, once it is known; `null` when the image can't be generated. */
type FileSizes = ReadonlyMap<string, number | null>;

/**
 * Fetches links one after another, which generates their images. A change of the links cancels the remaining requests.
 */
function useFileSizes(links: readonly string[]): FileSizes {
  const [bytes, setBytes] = useState<FileSizes>(new Map());
  const all = links.join('\n');
  useEffect(() => {
    const controller = new AbortController();
    void measure(all === '' ? [] : all.split('\n'), controller.signal, (link, size) =>
      setBytes((known) => new Map(known).set(link, size)),
    );
    return () => controller.abort();
  }, [all]);
  return bytes;
}

async function measure(
  links: readonly string[],
  signal: AbortSignal,
  report: (link: string, size: number | null) => void,
): Promise<void> {
  for (const link of links) {
    const size = await fetchSize(link, signal).catch(() => null);
    if (signal.aborted) return;
    report(link, size);
  }
}

async function fetchSize(link: string, signal: AbortSignal): Promise<number | null> {
  // A data URL is part of the response, so the length of its text is its size.
  if (link.startsWith('data:')) return link.length;
  const response = await fetch(link, { signal });
  return response.ok ? (await response.blob()).size : null;
}

/** An image candidate of a `srcset`. */
interface ImageCandidate {
  readonly src: string;
  /** The descriptor, such as `1.5x` or `400w`. */
  readonly descriptor: string;
}

/** Parses a `srcset` whose URLs contain no spaces. */
const parseSrcSet = (srcSet: string): ImageCandidate[] =>
  srcSet
    .split(/,\s+/)
    .map((part) => part.trim().split(/\s+/))
    .map(([src = '', descriptor = '']) => ({ src, descriptor }))
    .filter(({ src }) => src !== '');

/** Returns the width in pixels from a `w` descriptor; `undefined` for other descriptors. */
const getCandidateWidth = ({ descriptor }: ImageCandidate): number | undefined =>
  descriptor.endsWith('w') ? Number(descriptor.slice(0, -1)) : undefined;
