import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { ProblemText } from '../../ui/form.js';
import { TableHead } from '../../ui/headings.js';
import { formatBytes, formatShare, type TransformResult, type TransformState, useFileSizes } from './derived-image.js';
import type { TransformField } from './transform.js';

/** The source image of a transform. */
export interface SourceImage {
  readonly src: string;
  /** The size of the file in bytes. */
  readonly bytes: number;
}

interface PreviewProps {
  readonly source: SourceImage;
  readonly made: TransformState;
  readonly shape: TransformField;
  readonly isWritten: boolean;
}

/**
 * The derived images at their actual size. The previous images stay until the next ones are ready, to avoid layout
 * shifts.
 */
export function TransformPreview({ source, made, shape, isWritten }: PreviewProps) {
  const { image, problem, field, isCurrent } = made;
  return (
    <section aria-labelledby="the-preview" aria-busy={isWritten && !isCurrent}>
      <h2 id="the-preview">Preview</h2>
      {!isWritten && <p class="problem">Fix the highlighted fields to update the preview.</p>}
      {problem !== undefined && (
        <p class="problem" role={field === undefined ? 'alert' : undefined}>
          <ProblemText problem={problem} />
        </p>
      )}
      {image ? <Images source={source} image={image} shape={shape} /> : <p class="quiet">Generating …</p>}
    </section>
  );
}

interface ImagesProps {
  readonly source: SourceImage;
  readonly image: TransformResult;
  readonly shape: TransformField;
}

function Images({ source, image, shape }: ImagesProps) {
  const [chosen, choose] = useState('');
  const { src, srcSet, base64, tracedSVG } = image;
  const candidates = srcSet ? parseSrcSet(srcSet) : src ? [{ src, descriptor: '' }] : [];
  const shown = candidates.find(({ descriptor }) => descriptor === chosen) ?? candidates.find((one) => one.src === src);
  const isDrawing = shape.name === 'traced';
  return (
    <>
      {shown && !isDrawing && <ActualSizeImage key={shown.src} source={source} candidate={shown} image={image} />}
      {candidates.length > 0 && !isDrawing && (
        <CandidatesTable source={source} candidates={candidates} shown={shown?.src ?? ''} onChoose={choose} />
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
  readonly source: SourceImage;
  readonly candidate: ImageCandidate;
  readonly image: TransformResult;
}

/** An image at the size at which a page would show it. Larger images scroll in their frame. */
function ActualSizeImage({ source, candidate, image }: RealSizeProps) {
  const [isBroken, setBroken] = useState(false);
  const width = getCandidateWidth(candidate) ?? image.width ?? undefined;
  const name = decodeURIComponent(
    candidate.src.startsWith('data:') ? 'the image' : (candidate.src.split('/').at(-1) ?? ''),
  );
  if (isBroken) {
    return <p role="status">This browser can’t display {name}. Choose a different toFormat.</p>;
  }
  return (
    <ImageComparison original={source.src}>
      <img src={candidate.src} width={width} alt={`Preview of ${name}`} onError={() => setBroken(true)} />
    </ImageComparison>
  );
}

interface CandidatesProps {
  readonly source: SourceImage;
  readonly candidates: readonly ImageCandidate[];
  /** The `src` of the image that is shown. */
  readonly shown: string;
  /** Called with the descriptor of the chosen image. */
  readonly onChoose: (descriptor: string) => void;
}

/** A table of all derived images with their size in bytes. The user selects the one that is shown. */
function CandidatesTable({ source, candidates, shown, onChoose }: CandidatesProps) {
  const bytes = useFileSizes(candidates.map(({ src }) => src));
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Derived images">
      <table class="candidates">
        <TableHead names={['Image', 'Bytes', 'Share of original', 'Link']} />
        <tbody>
          {candidates.map(({ src, descriptor }) => (
            <tr key={src}>
              <td>
                <label class="choice">
                  <input type="radio" name="shown" checked={src === shown} onChange={() => onChoose(descriptor)} />
                  {toName(descriptor)}
                </label>
              </td>
              <td>{formatBytes(bytes.get(src))}</td>
              <td>{formatShare(bytes.get(src), source.bytes)}</td>
              <td>{src.startsWith('data:') ? 'inline' : <a href={src}>Open</a>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function toName(descriptor: string): string {
  if (descriptor === '') return 'The image';
  const number = descriptor.slice(0, -1);
  return descriptor.endsWith('w') ? `${number} pixels wide` : `For ${number}× screens`;
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

interface ComparisonProps {
  /** The link of the original image. */
  readonly original: string;
  /** The result at its actual size. */
  readonly children: ComponentChildren;
}

/**
 * Shows a result at its actual size, and the original over a part of it, scaled to the same size. A slider moves the
 * border between the two. Larger images scroll in their frame.
 */
function ImageComparison({ original, children }: ComparisonProps) {
  const id = useId();
  const [share, setShare] = useState(0);
  const [isBroken, setBroken] = useState(false);
  return (
    <>
      <div class="stage" tabIndex={0} role="region" aria-label="Image at actual size">
        <div class="comparison" style={{ '--share': `${share}%` }}>
          {children}
          {share > 0 && !isBroken && (
            // The slider describes the part of the original to screen readers.
            <img class="original" src={original} alt="" onError={() => setBroken(true)} />
          )}
        </div>
      </div>
      <div class="compare-slider">
        <label for={id}>Original</label>
        <input
          id={id}
          type="range"
          min={0}
          max={100}
          step={5}
          value={share}
          aria-valuetext={share === 0 ? 'only the result' : `${share} % original on the left`}
          onInput={({ currentTarget }) => setShare(currentTarget.valueAsNumber)}
        />
        <span class="quiet" aria-hidden="true">
          {share === 0 ? 'move to compare' : `left ${share} %`}
        </span>
      </div>
      {isBroken && <p role="status">This browser can’t display the original.</p>}
    </>
  );
}
