import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ChipProps {
  readonly kind?: 'new' | 'quiet';
  /** The colour of a label, as six hexadecimal digits. */
  readonly color?: string;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

/** A short text in a frame. The tint of a label's colour is light enough to keep the text legible for every colour. */
export function Chip({ kind, color, onClick, children }: ChipProps) {
  const look = `chip ${kind ?? ''} ${color === undefined ? '' : 'label'}`;
  const chip = useRef<HTMLButtonElement & HTMLSpanElement>(null);
  useEffect(() => {
    if (color === undefined || chip.current === null) return;
    // The content security policy forbids inline styles, but not styles set by scripts.
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
    // Not a tab stop: rows have many labels, and the filters offer the same by keyboard.
    <button ref={chip} type="button" class={look} tabIndex={-1} onClick={onClick}>
      {children}
    </button>
  );
}
