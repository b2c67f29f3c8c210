import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';

interface PanelProps {
  readonly title: string;
  /** The address of the page without this panel. */
  readonly closeTo: string;
  /** The id of the element that opened the panel. */
  readonly openedBy: string;
  readonly children: ComponentChildren;
}

/** Details beside a list. The panel takes the focus when it opens. Escape closes it and returns the focus. */
export function DetailsPanel({ title, closeTo, openedBy, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { route } = useLocation();
  const isClosed = useRef(false);
  const close = (): void => {
    isClosed.current = true;
    route(closeTo);
  };
  useEffect(() => {
    const { current } = heading;
    current?.focus({ preventScroll: true });
    // On narrow screens the panel is below the list.
    if (current && current.getBoundingClientRect().top > innerHeight) current.scrollIntoView();
    return () => {
      // Waits for the next frame, as narrow screens hide the list while the panel is open.
      if (isClosed.current) requestAnimationFrame(() => document.getElementById(openedBy)?.focus());
    };
  }, [openedBy]);
  return (
    <section
      class="details"
      aria-label={title}
      onKeyDown={({ key }) => {
        if (key === 'Escape') close();
      }}
    >
      <div class="details-head">
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {children}
    </section>
  );
}
