import { useCallback, useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { isServiceEnabled, publicOrigin } from '../page-data.js';
import { user } from '../session.js';
import { ConfirmButton } from '../ui/buttons.js';
import { clearSent, Field, Form, OneTimeSecret, UsernameField } from '../ui/form.js';
import { Heading } from '../ui/headings.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatDate, formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { JobsSection } from './jobs.js';
import { RequestLogSection, Step } from './request-log.js';

const hasDashboard = isServiceEnabled('dashboard');

/** What users lose together with their access. */
const CREDENTIALS = hasDashboard ? 'passkeys, tokens, feeds and notification channels' : 'passkeys and tokens';

export function AdminPage() {
  return (
    <>
      <Heading>Admin</Heading>
      <Users />
      <InvitationsSection />
      {hasDashboard && <JobsSection />}
      {hasDashboard && <RequestLogSection />}
    </>
  );
}

type AdminUser = components['schemas']['AdminUser'];

const PAGE_SIZE = 100;

interface UserList {
  readonly list: readonly AdminUser[];
  readonly offset: number;
  readonly total: number;
}

async function loadUsers(offset: number): Promise<UserList> {
  const params = { query: { limit: PAGE_SIZE, offset } };
  const result = await dashboardClient.GET('/api/admin/users', { params });
  const list = requireData(result);
  // The last users of the last page were removed.
  if (list.length === 0 && offset > 0) return loadUsers(offset - PAGE_SIZE);
  return { list, offset, total: Number(result.response.headers.get('X-Total-Count')) };
}

function Users() {
  const [start, setStart] = useState(0);
  const users = useResource(useCallback(() => loadUsers(start), [start]));
  return (
    <section aria-labelledby="users">
      <h2 id="users">Users</h2>
      <p class="quiet">
        Revoking access signs a user out everywhere and deletes their {CREDENTIALS}. Their data stays: an invitation
        with the same username restores access to it. Removing a user also deletes their data.
      </p>
      <AsyncContent from={users}>
        {({ list, offset, total }) => (
          <>
            {total > PAGE_SIZE && (
              <div class="pages">
                <p class="quiet" role="status">
                  {offset + 1} to {offset + list.length} of {total}
                </p>
                <Step name="Previous" to={offset - PAGE_SIZE} isThere={offset > 0} onStep={setStart} />
                <Step name="Next" to={offset + PAGE_SIZE} isThere={offset + list.length < total} onStep={setStart} />
              </div>
            )}
            <ul class="things">
              {list.map((listed) => (
                <User key={listed.username} listed={listed} onChanged={users.reload} />
              ))}
            </ul>
          </>
        )}
      </AsyncContent>
    </section>
  );
}

interface UserProps {
  readonly listed: AdminUser;
  readonly onChanged: () => Promise<void>;
}

function User({ listed: { username, displayName, isAdmin, createdAt }, onChanged }: UserProps) {
  const isOwn = username === user.value?.username;
  const params = { path: { username } };
  const revoke = async (): Promise<void> => {
    await changeEntry(onChanged, dashboardClient.POST('/api/admin/users/{username}/revoke', { params }));
    await onChanged();
    showToast(`${username} was signed out everywhere; their ${CREDENTIALS} were deleted.`);
  };
  const remove = async (): Promise<void> => {
    await changeEntry(onChanged, dashboardClient.DELETE('/api/admin/users/{username}', { params }));
    await onChanged();
    showToast(`The account of ${username} and its data were deleted.`);
  };
  const own = isOwn ? { disabled: true, reason: 'own-account' } : {};
  return (
    <li>
      <div>
        {displayName}
        <small>
          {username}
          {isAdmin ? ', admin' : ''} · since {formatDate(createdAt)}
        </small>
        {isOwn && <small id="own-account">You can’t remove your own account.</small>}
      </div>
      <div class="acts">
        <ConfirmButton label={`Revoke access of ${username}`} question="Revoke access?" {...own} onAct={revoke}>
          Revoke access
        </ConfirmButton>
        <ConfirmButton
          class="danger"
          label={`Remove ${username}`}
          question="Remove permanently?"
          {...own}
          onAct={remove}
        >
          Remove
        </ConfirmButton>
      </div>
    </li>
  );
}

type AdminInvite = components['schemas']['AdminInvite'];
type CreatedInvite = components['schemas']['CreatedInvite'];

const loadInvitations = async () => requireData(await dashboardClient.GET('/api/admin/invites'));

function InvitationsSection() {
  const invitations = useResource(loadInvitations);
  const [made, setMade] = useState<CreatedInvite>();
  const withdraw = async ({ id, username }: AdminInvite): Promise<void> => {
    await changeEntry(
      invitations.reload,
      dashboardClient.POST('/api/admin/invites/{id}/revoke', { params: { path: { id } } }),
    );
    // The link of a different invitation may not be copied yet.
    setMade((shown) => (shown?.id === id ? undefined : shown));
    await invitations.reload();
    showToast(`The invitation for ${username} was withdrawn.`);
  };
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      {made !== undefined && (
        <OneTimeSecret
          label="Send this link to the new user. It works once, within one hour, and won’t be shown again."
          value={toInvitationLink(made)}
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
        onMade={async (invite) => {
          setMade(invite);
          await invitations.reload();
        }}
      />
    </section>
  );
}

function toInvitationLink({ token, username }: CreatedInvite): string {
  const fragment = new URLSearchParams({ invite: token, username });
  return `${publicOrigin}/sign-in#${fragment.toString()}`;
}

function Invite({ onMade }: { readonly onMade: (invite: CreatedInvite) => Promise<void> }) {
  const [username, setUsername] = useState('');
  const [displayName, setDisplayName] = useState('');
  const create = async (): Promise<void> => {
    const invite = requireData(await dashboardClient.POST('/api/admin/invites', { body: { username, displayName } }));
    setUsername(clearSent(username));
    setDisplayName(clearSent(displayName));
    await onMade(invite);
  };
  return (
    <Form verb="Invite" onSave={create}>
      <UsernameField value={username} onValue={setUsername} />
      <Field label="Display name" required maxLength={100} value={displayName} onValue={setDisplayName} />
    </Form>
  );
}
