import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { publicOrigin } from '../page-data.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { AsyncContent } from '../ui/async-content.js';
import { OneTimeSecret } from '../ui/one-time-secret.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { useResource } from '../ui/use-resource.js';
import { UsernameField } from '../ui/username-field.js';

type AdminInvite = components['schemas']['AdminInvite'];

const loadInvitations = async () => requireData(await dashboardClient.GET('/api/admin/invites'));

export function InvitationsSection() {
  const invitations = useResource(loadInvitations);
  const [link, setLink] = useState<string>();
  const withdraw = async ({ id, username }: AdminInvite): Promise<void> => {
    requireData(await dashboardClient.POST('/api/admin/invites/{id}/revoke', { params: { path: { id } } }));
    setLink(undefined);
    await invitations.reload();
    showToast(`The invitation for ${username} was withdrawn.`);
  };
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      {link !== undefined && (
        <OneTimeSecret
          label="Send this link to the new user. It works once, within one hour, and won’t be shown again."
          value={link}
        />
      )}
      <AsyncContent from={invitations}>
        {(list) => (
          <ul class="things">
            {list.length === 0 && <li>No open invitations.</li>}
            {list.map((invite) => (
              <li key={invite.id}>
                <div>
                  {invite.username}
                  <small>
                    {invite.displayName} · until {formatDateTime(invite.expiresAt)}
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
      </AsyncContent>
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
    const made = requireData(await dashboardClient.POST('/api/admin/invites', { body: { username, displayName } }));
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
