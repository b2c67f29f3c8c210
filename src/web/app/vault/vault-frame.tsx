import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { Heading } from '../shell/heading.js';
import './vault.css';

const PARTS = [
  ['/vault', 'Secrets'],
  ['/vault/consumers', 'Consumers'],
  ['/vault/tokens', 'Tokens'],
  ['/vault/audit', 'Audit log'],
  ['/vault/identity', 'Owner'],
] as const;

/** Pages that are no part of their own belong to the secrets. */
function currentOf(path: string, href: string): 'page' | 'true' | undefined {
  if (path === href) return 'page';
  return href === '/vault' && !PARTS.some(([part]) => part === path) ? 'true' : undefined;
}

interface VaultFrameProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** What all pages about secrets have in common. */
export function VaultFrame({ title, children }: VaultFrameProps) {
  const { path } = useLocation();
  return (
    <>
      <Heading>{title}</Heading>
      <nav aria-label="Secrets">
        <ul class="parts">
          {PARTS.map(([href, name]) => (
            <li key={href}>
              <a href={href} aria-current={currentOf(path, href)}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {children}
    </>
  );
}
