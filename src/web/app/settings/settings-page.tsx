import { Heading } from '../shell/heading.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { user } from '../session.js';
import { signOut, signOutEverywhere } from './sign-out.js';
import { Feeds } from '../board/feeds.js';
import { Appearance } from './appearance.js';
import { Forges } from './forges.js';
import { Passkeys } from './passkeys.js';
import { Sharing } from './sharing.js';
import { Tokens } from './tokens.js';
import { ActionButton } from '../shell/action-button.js';
import './settings.css';

const SECTIONS = [
  ['forges', 'Forges'],
  ['tokens', 'API tokens'],
  ['passkeys', 'Passkeys'],
  ['sharing', 'Sharing'],
  ['feeds', 'Feeds and badges'],
  ['appearance', 'Appearance'],
] as const;

export function SettingsPage() {
  return (
    <>
      <Heading>Settings</Heading>
      <div class="signed-in">
        <p>
          Signed in as {user.value?.displayName} ({user.value?.username}){user.value?.isAdmin ? ', admin' : ''}.
        </p>
        <ActionButton onAct={signOut}>Sign out</ActionButton>
        <ConfirmButton question="Really, on every device?" onAct={signOutEverywhere}>
          Sign out everywhere
        </ConfirmButton>
      </div>
      <div class="settings">
        <nav class="sections" aria-label="Settings">
          <ul>
            {SECTIONS.map(([id, name]) => (
              <li key={id}>
                <a href={`#${id}`}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div>
          <Forges />
          <Tokens />
          <Passkeys />
          <Sharing />
          <Feeds />
          <Appearance />
        </div>
      </div>
    </>
  );
}
