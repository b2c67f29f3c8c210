import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useLayoutEffect, useRef } from 'preact/hooks';

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

interface SectionTabsProps {
  /** The accessible name of the navigation. */
  readonly name: string;
  /** Path and name of each page. Any other path belongs to the first page. */
  readonly parts: readonly (readonly [string, string])[];
}

/** Links between the pages of a section. */
export function SectionTabs({ name, parts }: SectionTabsProps) {
  const { path } = useLocation();
  const isOther = !parts.some(([address]) => address === path);
  const toCurrent = (address: string, index: number) => {
    if (address === path) return 'page';
    return isOther && index === 0 ? 'true' : undefined;
  };
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    // On a phone the current page may be outside the part of the list that is shown. The page itself stays where it is.
    const show = (): void => {
      const current = list.current?.querySelector<HTMLElement>('[aria-current]');
      if (list.current && current) list.current.scrollLeft = current.offsetLeft - list.current.offsetLeft - 16;
    };
    show();
    window.addEventListener('resize', show);
    return () => window.removeEventListener('resize', show);
  }, [path]);
  return (
    <nav aria-label={name}>
      <ul ref={list} class="parts">
        {parts.map(([address, part], index) => (
          <li key={address}>
            <a href={address} aria-current={toCurrent(address, index)}>
              {part}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function TableHead({ names }: { readonly names: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
