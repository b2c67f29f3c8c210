import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { user } from '../session.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Loaded } from '../shell/loaded.js';
import { toDay } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';
import type { components } from '../../../generated/dashboard/client.js';

type AdminUser = components['schemas']['AdminUser'];

const loadPeople = async () => requireAnswer(await dashboard.GET('/api/admin/users'));

export function People() {
  const people = useResource(loadPeople);
  return (
    <section aria-labelledby="people">
      <h2 id="people">People</h2>
      <p class="quiet">
        Who loses access is signed out everywhere, without passkeys, tokens and feeds; what they stored stays, and an
        invitation of the same name leads back to it. Who is removed is gone, with everything of theirs.
      </p>
      <Loaded from={people}>
        {(list) => (
          <ul class="things">
            {list.map((person) => (
              <Person key={person.username} person={person} onChanged={people.reload} />
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

interface PersonProps {
  readonly person: AdminUser;
  readonly onChanged: () => Promise<void>;
}

function Person({ person: { username, displayName, isAdmin, createdAt }, onChanged }: PersonProps) {
  const isOwn = username === user.value?.username;
  const params = { path: { username } };
  const revoke = async (): Promise<void> => {
    requireAnswer(await dashboard.POST('/api/admin/users/{username}/revoke', { params }));
    await onChanged();
    say(`${username} is signed out everywhere, and has no passkeys or tokens any more.`);
  };
  const remove = async (): Promise<void> => {
    requireAnswer(await dashboard.DELETE('/api/admin/users/{username}', { params }));
    await onChanged();
    say(`The account of ${username} is gone, with everything of it.`);
  };
  const own = isOwn ? { disabled: true, reason: 'own-account' } : {};
  return (
    <li>
      <div>
        {displayName}
        <small>
          {username}
          {isAdmin ? ', admin' : ''} · since {toDay(createdAt)}
        </small>
        {isOwn && <small id="own-account">This is you: nobody puts themselves out.</small>}
      </div>
      <div class="acts">
        <ConfirmButton label={`Revoke access of ${username}`} question="Really revoke?" {...own} onAct={revoke}>
          Revoke access
        </ConfirmButton>
        <ConfirmButton
          class="danger"
          label={`Remove ${username}`}
          question="Really remove for good?"
          {...own}
          onAct={remove}
        >
          Remove
        </ConfirmButton>
      </div>
    </li>
  );
}
