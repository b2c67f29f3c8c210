import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface ChipProps {
  readonly kind?: 'new' | 'quiet';
  /** Six hexadecimal digits, of a label. */
  readonly color?: string;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

/** A few words in a frame. A label's colour tints it so lightly that its text can be read whatever the colour is. */
export function Chip({ kind, color, onClick, children }: ChipProps) {
  const look = `chip ${kind ?? ''} ${color === undefined ? '' : 'label'}`;
  const chip = useRef<HTMLButtonElement & HTMLSpanElement>(null);
  useEffect(() => {
    if (color === undefined || chip.current === null) return;
    // Set from here, as a policy without inline styles lets scripts alone do.
    chip.current.style.setProperty('--label', `#${color}`);
  }, [color]);
  if (onClick === undefined) {
    return (
      <span ref={chip} class={look}>
        {children}
      </span>
    );
  }
  return (
    <button ref={chip} type="button" class={look} onClick={onClick}>
      {children}
    </button>
  );
}
