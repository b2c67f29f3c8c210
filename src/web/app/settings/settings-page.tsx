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

export function SettingsPage() {
  return (
    <>
      <Heading>Settings</Heading>
      <p>
        Signed in as {user.value?.displayName} ({user.value?.username}){user.value?.isAdmin ? ', admin' : ''}.{' '}
        <ActionButton onAct={signOut}>Sign out</ActionButton>{' '}
        <ConfirmButton question="Really, on every device?" onAct={signOutEverywhere}>
          Sign out everywhere
        </ConfirmButton>
      </p>
      <Forges />
      <Tokens />
      <Passkeys />
      <Sharing />
      <Feeds />
      <Appearance />
    </>
  );
}
