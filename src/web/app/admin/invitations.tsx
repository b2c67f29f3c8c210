import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { publicOrigin } from '../server-facts.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Loaded } from '../shell/loaded.js';
import { ShownOnce } from '../shell/shown-once.js';
import { toMoment } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';
import { UsernameField } from '../shell/username-field.js';

type AdminInvite = components['schemas']['AdminInvite'];

const loadInvitations = async () => requireAnswer(await dashboard.GET('/api/admin/invites'));

export function Invitations() {
  const invitations = useResource(loadInvitations);
  const [link, setLink] = useState<string>();
  const withdraw = async ({ id, username }: AdminInvite): Promise<void> => {
    requireAnswer(await dashboard.POST('/api/admin/invites/{id}/revoke', { params: { path: { id } } }));
    setLink(undefined);
    await invitations.reload();
    say(`The invitation for ${username} was withdrawn.`);
  };
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      {link !== undefined && (
        <ShownOnce
          label="Send this link to the new user. It works once, within one hour, and won’t be shown again."
          value={link}
        />
      )}
      <Loaded from={invitations}>
        {(list) => (
          <ul class="things">
            {list.length === 0 && <li>No open invitations.</li>}
            {list.map((invite) => (
              <li key={invite.id}>
                <div>
                  {invite.username}
                  <small>
                    {invite.displayName} · until {toMoment(invite.expiresAt)}
                  </small>
                </div>
                <ConfirmButton
                  class="danger"
                  label={`Withdraw the invitation for ${invite.username}`}
                  question="Withdraw invitation?"
                  onAct={() => withdraw(invite)}
                >
                  Withdraw
                </ConfirmButton>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <Invite
        onMade={async (made) => {
          setLink(made);
          await invitations.reload();
        }}
      />
    </section>
  );
}

function Invite({ onMade }: { readonly onMade: (link: string) => Promise<void> }) {
  const [username, setUsername] = useState('');
  const [displayName, setDisplayName] = useState('');
  const invite = async (): Promise<void> => {
    const made = requireAnswer(await dashboard.POST('/api/admin/invites', { body: { username, displayName } }));
    setUsername('');
    setDisplayName('');
    const fragment = new URLSearchParams({ invite: made.token, username: made.username });
    await onMade(`${publicOrigin}/sign-in#${fragment.toString()}`);
  };
  return (
    <Form verb="Invite" onSave={invite}>
      <UsernameField value={username} onValue={setUsername} />
      <Field
        label="Display name"
        required
        maxLength={100}
        autoComplete="off"
        value={displayName}
        onValue={setDisplayName}
      />
    </Form>
  );
}
