import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface MenuProps {
  /** What screen readers are told of it, where its name says too little. */
  readonly label?: string;
  readonly name: ComponentChildren;
  readonly children: ComponentChildren;
}

/** What is seldom needed, behind a button. Escape, or a touch elsewhere, closes it. */
export function Menu({ label, name, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const { current } = menu;
    if (!isOpen || current === null) return;
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return;
      if (current.contains(document.activeElement)) current.querySelector('summary')?.focus();
      current.open = false;
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
      {isOpen && <div class="menu">{children}</div>}
    </details>
  );
}
