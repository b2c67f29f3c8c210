import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';

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
export function ImageComparison({ original, children }: ComparisonProps) {
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
