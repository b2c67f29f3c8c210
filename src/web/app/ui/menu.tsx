import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface MenuProps {
  /** The accessible name, if the visible one is ambiguous. */
  readonly label?: string;
  readonly name: ComponentChildren;
  /** The content, or a function that creates it from a function that closes the menu. */
  readonly children: ComponentChildren | ((close: () => void) => ComponentChildren);
}

/**
 * A menu behind a button. Escape, or a press or focus elsewhere, closes it. It stays open behind a dialog, such as that of
 * an ended session, which returns the focus to it.
 */
export function Menu({ label, name, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    const { current } = menu;
    if (!isOpen || current === null) return;
    keepInWindow(current);
    const onKey = ({ key, isComposing }: KeyboardEvent): void => {
      if (key === 'Escape' && !isComposing && !isBehindDialog(current)) close(current);
    };
    const onElsewhere = ({ target }: Event): void => {
      if (target instanceof Node && !current.contains(target) && !isBehindDialog(current)) current.open = false;
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

const isBehindDialog = (menu: HTMLElement): boolean =>
  [...document.querySelectorAll('dialog:modal')].some((dialog) => !dialog.contains(menu));

/** The distance in pixels that a menu keeps from the edges of the window. */
const MARGIN = 8;

/** Moves the content of a menu into the window: above its button if there is more room, and sideways. */
function keepInWindow(menu: HTMLElement): void {
  const button = menu.querySelector('summary')?.getBoundingClientRect();
  const content = menu.querySelector<HTMLElement>('.menu');
  // On phones the menus of rows are fixed to the lower edge of the window.
  if (button === undefined || content === null || getComputedStyle(content).position === 'fixed') return;
  const { height } = content.getBoundingClientRect();
  const [above, below] = [button.top - MARGIN, innerHeight - button.bottom - MARGIN];
  const isAbove = height > below && above > below;
  const room = isAbove ? above : below;
  content.classList.toggle('above', isAbove);
  content.classList.toggle('tight', height > room);
  if (height > room) content.style.setProperty('--room', `${room - MARGIN}px`);
  // A scroll bar that takes space has made the menu wider.
  const { left, right } = content.getBoundingClientRect();
  const shift = Math.max(0, MARGIN - left) - Math.max(0, right - document.documentElement.clientWidth + MARGIN);
  content.style.setProperty('--shift', `${shift}px`);
}

/** Closes a menu and returns the focus to its button if it was inside. */
function close(menu: HTMLDetailsElement | null): void {
  if (menu === null) return;
  if (menu.contains(document.activeElement)) menu.querySelector('summary')?.focus();
  menu.open = false;
}
