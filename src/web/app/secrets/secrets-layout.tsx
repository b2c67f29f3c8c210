import './secrets.css';
import type { ComponentChildren } from 'preact';
import { Heading, SectionTabs } from '../ui/headings.js';
import { KeyChangeConfirmation } from './known-keys.js';
import { ClipboardNotice } from './value/clipboard.js';

const TABS = [
  ['/vault', 'Secrets'],
  ['/vault/consumers', 'Consumers'],
  ['/vault/writers', 'Writers'],
  ['/vault/tokens', 'Tokens'],
  ['/vault/audit', 'Audit log'],
  ['/vault/identity', 'My key'],
] as const;

interface VaultFrameProps {
  readonly title: string;
  /** Links beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The layout of the secrets pages: heading, tabs and the dialog about changed keys. */
export function SecretsLayout({ title, actions, children }: VaultFrameProps) {
  return (
    <>
      <div class="page-head">
        <Heading>{title}</Heading>
        {actions}
      </div>
      <SectionTabs name="Secrets" parts={TABS} />
      <ClipboardNotice />
      {children}
      <KeyChangeConfirmation />
    </>
  );
}
