import type { ComponentChildren } from 'preact';
import { Heading } from '../shell/heading.js';
import { Parts } from '../shell/parts.js';
import { KeyChangeQuestion } from './known-keys.js';
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
  return (
    <>
      <Heading>{title}</Heading>
      <Parts name="Secrets" parts={PARTS} />
      {children}
      <KeyChangeQuestion />
    </>
  );
}
