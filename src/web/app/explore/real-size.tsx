import { useState } from 'preact/hooks';
import { widthOf } from './candidates.js';
import type { Candidate } from './candidates.js';
import type { MadeImage } from './use-made.js';

interface RealSizeProps {
  readonly candidate: Candidate;
  readonly image: MadeImage;
}

/** An image as large as a page would show it; larger ones are moved about in their frame. */
export function RealSize({ candidate, image }: RealSizeProps) {
  const [isBroken, setBroken] = useState(false);
  const width = widthOf(candidate) ?? image.width ?? undefined;
  const name = decodeURIComponent(
    candidate.src.startsWith('data:') ? 'the image' : (candidate.src.split('/').at(-1) ?? ''),
  );
  if (isBroken) {
    return <p role="status">This browser can’t show {name}. Choose another toFormat to see it here, and on pages.</p>;
  }
  return (
    <div class="stage" tabIndex={0} role="region" aria-label="The image in its real size">
      <img src={candidate.src} width={width} alt={`${name} as the recipe makes it`} onError={() => setBroken(true)} />
    </div>
  );
}
