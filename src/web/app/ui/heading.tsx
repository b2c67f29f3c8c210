import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface HeadingProps {
  /** The title of the window, if it differs from the heading. */
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** The `h1` of a page. It takes the focus when the page opens, so that screen readers announce the page. */
export function Heading({ title, children }: HeadingProps) {
  // A layout effect moves the focus before the next frame, in which a key could be pressed.
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
