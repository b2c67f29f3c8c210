import { useState } from 'preact/hooks';
import { parseSrcSet } from './image-candidates.js';
import { CandidatesTable } from './candidates-table.js';
import type { TransformField } from './transform.js';
import { ActualSizeImage } from './actual-size-image.js';
import type { TransformState, TransformResult } from './use-derived-image.js';

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
