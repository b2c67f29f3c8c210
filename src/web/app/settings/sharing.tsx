import { useState } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
import { Form } from '../shell/form.js';
import { Loaded } from '../shell/loaded.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';
import { UsernameField } from '../shell/username-field.js';

const loadSharing = async () => requireAnswer(await dashboard.GET('/api/sharing'));

export function Sharing() {
  const sharing = useResource(loadSharing);
  const [username, setUsername] = useState('');
  const share = async (): Promise<void> => {
    requireAnswer(await dashboard.PUT('/api/sharing/{username}', { params: { path: { username } } }));
    setUsername('');
    await sharing.reload();
    say(`${username} may read your board.`);
  };
  const unshare = async (name: string): Promise<void> => {
    requireAnswer(await dashboard.DELETE('/api/sharing/{username}', { params: { path: { username: name } } }));
    await sharing.reload();
    say(`${name} may read your board no more.`);
  };
  return (
    <section aria-labelledby="sharing">
      <h2 id="sharing" tabIndex={-1}>
        Sharing
      </h2>
      <p class="quiet">Whoever is named here may read your whole board, and change nothing.</p>
      <Loaded from={sharing}>
        {({ sharedWith, sharedWithMe }) => (
          <>
            <ul class="things">
              {sharedWith.length === 0 && <li>You share it with nobody.</li>}
              {sharedWith.map((person) => (
                <li key={person.username}>
                  <div>
                    {person.displayName}
                    <small>{person.username}</small>
                  </div>
                  <ActionButton
                    aria-label={`Stop sharing with ${person.username}`}
                    onAct={() => unshare(person.username)}
                  >
                    Stop sharing
                  </ActionButton>
                </li>
              ))}
            </ul>
            {sharedWithMe.length > 0 && (
              <p>
                Shared with you: {sharedWithMe.map(({ displayName }) => displayName).join(', ')}. Choose whose you look
                at by “Board of” on <a href="/">the board</a>.
              </p>
            )}
          </>
        )}
      </Loaded>
      <Form verb="Share" onSave={share}>
        <UsernameField value={username} onValue={setUsername} />
      </Form>
    </section>
  );
}
