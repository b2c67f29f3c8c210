import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface MenuProps {
  /** The accessible name, if the visible one is ambiguous. */
  readonly label?: string;
  readonly name: ComponentChildren;
  /** The content, or a function that creates it from a function that closes the menu. */
  readonly children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

/** A menu behind a button. Escape, or a press or focus elsewhere, closes it. */
export function Menu({ label, name, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    const { current } = menu;
    if (!isOpen || current === null) return;
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') close(current);
    };
    const onElsewhere = ({ target }: Event): void => {
      if (target instanceof Node && !current.contains(target)) current.open = false;
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener('pointerdown', onElsewhere);
    document.addEventListener('focusin', onElsewhere);
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('pointerdown', onElsewhere);
      document.removeEventListener('focusin', onElsewhere);
    };
  }, [isOpen]);
  return (
    <details ref={menu} class="more" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={label}>{name}</summary>
      {isOpen && (
        <div class="menu">{typeof children === 'function' ? children(() => close(menu.current)) : children}</div>
      )}
    </details>
  );
}

/** Closes a menu and returns the focus to its button if it was inside. */
function close(menu: HTMLDetailsElement | null): void {
  if (menu === null) return;
  if (menu.contains(document.activeElement)) menu.querySelector('summary')?.focus();
  menu.open = false;
}
