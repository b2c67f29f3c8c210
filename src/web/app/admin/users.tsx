import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { user } from '../session.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { AsyncContent } from '../ui/async-content.js';
import { formatDate } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { useResource } from '../ui/use-resource.js';
import type { components } from '../../../generated/dashboard/client.js';

type AdminUser = components['schemas']['AdminUser'];

const loadUsers = async () => requireData(await dashboardClient.GET('/api/admin/users'));

export function Users() {
  const users = useResource(loadUsers);
  return (
    <section aria-labelledby="users">
      <h2 id="users">Users</h2>
      <p class="quiet">
        Revoking access signs a user out everywhere and deletes their passkeys, tokens and feeds. Their data stays: an
        invitation with the same username restores access to it. Removing a user also deletes their data.
      </p>
      <AsyncContent from={users}>
        {(list) => (
          <ul class="things">
            {list.map((listed) => (
              <User key={listed.username} listed={listed} onChanged={users.reload} />
            ))}
          </ul>
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
    requireData(await dashboardClient.POST('/api/admin/users/{username}/revoke', { params }));
    await onChanged();
    showToast(`${username} was signed out everywhere; their passkeys, tokens and feeds were deleted.`);
  };
  const remove = async (): Promise<void> => {
    requireData(await dashboardClient.DELETE('/api/admin/users/{username}', { params }));
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
