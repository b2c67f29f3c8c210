import type { FunctionComponent } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { useAction } from './buttons.js';
import { Icon } from './icon.js';

type PaletteComponent = FunctionComponent<{ readonly onClose: () => void }>;

/** A button that opens the command palette, as Ctrl K and ⌘ K do. The palette is loaded when it is first opened. */
export function PaletteButton() {
  const [Palette, setPalette] = useState<PaletteComponent>();
  const [isOpen, setOpen] = useState(false);
  const [, open] = useAction(async () => {
    const module = await import('../palette/palette.js');
    setPalette(() => module.Palette);
    setOpen(true);
  });
  const onClose = useCallback(() => setOpen(false), []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) open();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
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
      </button>
      {isOpen && Palette && <Palette onClose={onClose} />}
    </>
  );
}
