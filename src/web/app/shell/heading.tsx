import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface HeadingProps {
  /** In the title of the window, where it differs. */
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** The one `h1` of a page. It takes the focus when the page is come to, which tells screen readers where they are. */
export function Heading({ title, children }: HeadingProps) {
  // Not after the next frame, when a key may have been pressed.
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const text = title ?? (typeof children === 'string' ? children : undefined);
  useLayoutEffect(() => {
    document.title = text === undefined ? 'Trellis' : `${text} · Trellis`;
  }, [text]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
