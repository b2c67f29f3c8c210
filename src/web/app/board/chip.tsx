import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface ChipProps {
  readonly kind?: 'new' | 'quiet';
  /** Six hexadecimal digits, of a label. */
  readonly color?: string;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

/** A few words in a frame. A label's colour gets black or white text, whichever can be read on it. */
export function Chip({ kind, color, onClick, children }: ChipProps) {
  const chip = useRef<HTMLButtonElement & HTMLSpanElement>(null);
  useEffect(() => {
    if (color === undefined || chip.current === null) return;
    // Set from here, as a policy without inline styles lets scripts alone do.
    chip.current.style.setProperty('background-color', `#${color}`);
    chip.current.style.setProperty('color', inkOn(color));
  }, [color]);
  if (onClick === undefined) {
    return (
      <span ref={chip} class={`chip ${kind ?? ''}`}>
        {children}
      </span>
    );
  }
  return (
    <button ref={chip} type="button" class={`chip ${kind ?? ''}`} onClick={onClick}>
      {children}
    </button>
  );
}

/** The ink with the higher contrast, by the relative luminance of WCAG 2.2. */
export function inkOn(color: string): '#000000' | '#ffffff' {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => toLinear(parseInt(color.slice(at, at + 2), 16) / 255));
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? '#000000' : '#ffffff';
}

const toLinear = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
