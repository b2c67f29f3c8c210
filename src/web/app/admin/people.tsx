import type { components } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { user } from '../session.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Loaded } from '../shell/loaded.js';
import { toDay } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';

type AdminUser = components['schemas']['AdminUser'];

const loadPeople = async () => requireAnswer(await dashboard.GET('/api/admin/users'));

const pathOf = ({ username }: AdminUser) => ({ params: { path: { username } } });

export function People() {
  const people = useResource(loadPeople);
  const revoke = async (person: AdminUser): Promise<void> => {
    requireAnswer(await dashboard.POST('/api/admin/users/{username}/revoke', pathOf(person)));
    await people.reload();
    say(`${person.username} is signed out everywhere, and has no passkeys or tokens any more.`);
  };
  const remove = async (person: AdminUser): Promise<void> => {
    requireAnswer(await dashboard.DELETE('/api/admin/users/{username}', pathOf(person)));
    await people.reload();
    say(`The account of ${person.username} is gone, with everything of it.`);
  };
  return (
    <section aria-labelledby="people">
      <h2 id="people">People</h2>
      <Loaded from={people}>
        {(list) => (
          <ul class="things">
            {list.map((person) => (
              <li key={person.username}>
                <div>
                  {person.displayName}
                  <small>
                    {person.username}
                    {person.isAdmin ? ', admin' : ''} · since {toDay(person.createdAt)}
                  </small>
                </div>
                <div class="row">
                  <ConfirmButton
                    label={`Revoke all access of ${person.username}`}
                    question="Really revoke?"
                    disabled={person.username === user.value?.username}
                    onAct={() => revoke(person)}
                  >
                    Revoke access
                  </ConfirmButton>
                  <ConfirmButton
                    class="danger"
                    label={`Remove ${person.username}`}
                    question="Really remove for good?"
                    disabled={person.username === user.value?.username}
                    onAct={() => remove(person)}
                  >
                    Remove
                  </ConfirmButton>
                </div>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
