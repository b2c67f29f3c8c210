import type { FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from './buttons.js';
import { Icon } from './icon.js';

type PaletteComponent = FunctionComponent<PaletteButtonProps & { readonly onClose: () => void }>;

interface PaletteButtonProps {
  /** Opens an address of this server. */
  readonly onOpen: (href: string) => void;
  /** Runs before the palette opens for the first time. */
  readonly prepare?: () => Promise<void>;
}

const isMac = navigator.platform.startsWith('Mac');

/** A button that opens the command palette, as Ctrl K and ⌘ K do. The palette is loaded when it is first opened. */
export function PaletteButton({ onOpen, prepare }: PaletteButtonProps) {
  const [Palette, setPalette] = useState<PaletteComponent>();
  /** The number of the open palette. The event of one that was closed comes with the next frame, when another may be open. */
  const [shown, setShown] = useState<number>();
  const last = useRef(0);
  const [, open] = useAction(async () => {
    const [module] = await Promise.all([import('../palette/palette.js'), prepare?.()]);
    setPalette(() => module.Palette);
    setShown((last.current += 1));
  });
  const onClose = (): void => setShown((now) => (now === shown ? undefined : now));
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // Other listeners, such as those of GraphiQL, would move the focus.
      event.stopPropagation();
      if (document.querySelector('dialog[open]') === null) open();
    };
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  }, [open]);
  return (
    <>
      <button
        type="button"
        class="find"
        aria-label="Search everything"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={open}
      >
        <Icon name="search" />
        <span class="words" aria-hidden="true">
          Search <kbd data-keys={isMac ? '⌘ K' : 'Ctrl K'} />
        </span>
      </button>
      {shown !== undefined && Palette && <Palette key={shown} {...{ onOpen, onClose }} />}
    </>
  );
}
