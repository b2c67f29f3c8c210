import type { ComponentType } from 'preact';
import { Heading } from '../ui/heading.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { isServiceEnabled } from '../page-data.js';
import { user } from '../session.js';
import { signOut, signOutEverywhere } from './sign-out.js';
import { FeedsSection } from '../board/feeds.js';
import { Appearance } from './appearance.js';
import { Forges } from './forges.js';
import { PasskeysSection } from './passkeys.js';
import { SharingSection } from './sharing.js';
import { Tokens } from './tokens.js';
import { ActionButton } from '../ui/action-button.js';
import './settings.css';

interface Section {
  readonly id: string;
  readonly name: string;
  readonly Content: ComponentType;
  /** Whether the section is needed without the dashboard, as accounts belong to the secrets service too. */
  readonly isAlways?: true;
}

const ALL: readonly Section[] = [
  { id: 'forges', name: 'Code hosts', Content: Forges },
  { id: 'tokens', name: 'API tokens', Content: Tokens },
  { id: 'passkeys', name: 'Passkeys', Content: PasskeysSection, isAlways: true },
  { id: 'sharing', name: 'Sharing', Content: SharingSection },
  { id: 'feeds', name: 'Feeds and badges', Content: FeedsSection },
  { id: 'appearance', name: 'Appearance', Content: Appearance },
];

const SECTIONS = ALL.filter(({ isAlways }) => isAlways ?? isServiceEnabled('dashboard'));

export function SettingsPage() {
  return (
    <>
      <Heading>Settings</Heading>
      <div class="signed-in">
        <p>
          Signed in as {user.value?.displayName} ({user.value?.username}){user.value?.isAdmin ? ', admin' : ''}.
        </p>
        <ActionButton onAct={signOut}>Sign out</ActionButton>
        <ConfirmButton question="Sign out on every device?" onAct={signOutEverywhere}>
          Sign out everywhere
        </ConfirmButton>
      </div>
      <div class="settings">
        <nav class="sections" aria-label="Settings">
          <ul>
            {SECTIONS.map(({ id, name }) => (
              <li key={id}>
                <a href={`#${id}`}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div>
          {SECTIONS.map(({ id, Content }) => (
            <Content key={id} />
          ))}
        </div>
      </div>
    </>
  );
}
