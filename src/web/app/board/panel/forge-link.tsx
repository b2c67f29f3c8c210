import type { ComponentChildren } from 'preact';

interface ForgeLinkProps {
  readonly url: string;
  readonly children: ComponentChildren;
}

/** A link to a page of a forge in a new tab. The address comes from the forge, so any scheme but HTTP is shown as text. */
export function ForgeLink({ url, children }: ForgeLinkProps) {
  if (!/^https?:/.test(url)) return <>{children}</>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}
