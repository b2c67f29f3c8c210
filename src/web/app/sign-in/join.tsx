import { useState } from 'preact/hooks';
import { register } from '../passkeys.js';
import type { SessionUser } from '../session.js';
import { useAction } from '../shell/action-button.js';
import { Heading } from '../shell/heading.js';
import type { InvitationLink } from './invitation-link.js';

interface JoinProps {
  readonly link: InvitationLink;
  readonly onDone: (user: SessionUser) => void;
}

/** Makes the account that a link is for, with its first passkey. */
export function Join({ link, onDone }: JoinProps) {
  const [username, setUsername] = useState(link.username ?? '');
  const [displayName, setDisplayName] = useState('');
  const [isBusy, join] = useAction(async () => {
    onDone(await register({ username, displayName, inviteToken: link.secret }));
  });
  return (
    <section class="narrow">
      <Heading>{link.isSetup ? "Make the admin's account" : 'Make your account'}</Heading>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          join();
        }}
      >
        <label for="username">Username</label>
        <input
          id="username"
          required
          maxLength={64}
          autoComplete="username"
          autoCapitalize="none"
          spellcheck={false}
          readOnly={link.username !== null}
          value={username}
          onInput={({ currentTarget }) => setUsername(currentTarget.value)}
        />
        <label for="display-name">Your name, as others see it</label>
        <input
          id="display-name"
          required
          maxLength={100}
          autoComplete="name"
          value={displayName}
          onInput={({ currentTarget }) => setDisplayName(currentTarget.value)}
        />
        <button type="submit" class="main" aria-busy={isBusy}>
          Create a passkey
        </button>
        <p class="quiet">Your browser asks where to keep it: this device, a phone or a security key.</p>
      </form>
    </section>
  );
}
