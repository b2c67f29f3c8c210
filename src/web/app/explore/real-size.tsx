import { useState } from 'preact/hooks';
import { widthOf } from './candidates.js';
import type { Candidate } from './candidates.js';
import type { MadeImage } from './use-made.js';

interface RealSizeProps {
  readonly candidate: Candidate;
  readonly image: MadeImage;
}

/** An image at the size at which a page would show it. Larger images scroll in their frame. */
export function RealSize({ candidate, image }: RealSizeProps) {
  const [isBroken, setBroken] = useState(false);
  const width = widthOf(candidate) ?? image.width ?? undefined;
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
