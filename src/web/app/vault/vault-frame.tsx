import type { ComponentChildren } from 'preact';
import { Heading } from '../shell/heading.js';
import { Parts } from '../shell/parts.js';
import { KeyChangeQuestion } from './known-keys.js';
import './vault.css';

const TABS = [
  ['/vault', 'Secrets'],
  ['/vault/consumers', 'Consumers'],
  ['/vault/tokens', 'Tokens'],
  ['/vault/audit', 'Audit log'],
  ['/vault/identity', 'My key'],
] as const;

interface VaultFrameProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** The layout of the secrets pages: heading, tabs and the dialog about changed keys. */
export function VaultFrame({ title, children }: VaultFrameProps) {
  return (
    <>
      <Heading>{title}</Heading>
      <Parts name="Secrets" parts={TABS} />
      {children}
      <KeyChangeQuestion />
    </>
  );
}
