import { useEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';

interface PanelProps {
  readonly title: string;
  /** Where the page is without this panel. */
  readonly closeTo: string;
  /** Of what was pressed to open it. */
  readonly openedBy: string;
  readonly children: ComponentChildren;
}

/** Details beside a list. The focus comes here when it opens; Escape closes it, and the focus goes back. */
export function Panel({ title, closeTo, openedBy, children }: PanelProps) {
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
    // Where there is no room beside the list, it is below.
    if (current && current.getBoundingClientRect().top > innerHeight) current.scrollIntoView();
    return () => {
      // Once the list is there again: where there is little room, it was hidden.
      if (isClosed.current) requestAnimationFrame(() => document.getElementById(openedBy)?.focus());
    };
  }, [openedBy]);
  return (
    <section
      class="panel"
      aria-label={title}
      onKeyDown={({ key }) => {
        if (key === 'Escape') close();
      }}
    >
      <div class="panel-head">
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
