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
              <a href={href} aria-current={path === href ? 'page' : undefined}>
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
