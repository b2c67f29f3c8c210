import { useState } from 'preact/hooks';
import { getCandidateWidth } from './image-candidates.js';
import type { ImageCandidate } from './image-candidates.js';
import type { TransformResult } from './use-derived-image.js';

interface RealSizeProps {
  readonly candidate: ImageCandidate;
  readonly image: TransformResult;
}

/** An image at the size at which a page would show it. Larger images scroll in their frame. */
export function ActualSizeImage({ candidate, image }: RealSizeProps) {
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
