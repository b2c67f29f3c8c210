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
    say(`${username} can now view your board.`);
  };
  const unshare = async (name: string): Promise<void> => {
    requireAnswer(await dashboard.DELETE('/api/sharing/{username}', { params: { path: { username: name } } }));
    await sharing.reload();
    say(`${name} can no longer view your board.`);
  };
  return (
    <section aria-labelledby="sharing">
      <h2 id="sharing" tabIndex={-1}>
        Sharing
      </h2>
      <p class="quiet">These people can view your board but not change it.</p>
      <Loaded from={sharing}>
        {({ sharedWith, sharedWithMe }) => (
          <>
            <ul class="things">
              {sharedWith.length === 0 && <li>Not shared with anyone.</li>}
              {sharedWith.map((viewer) => (
                <li key={viewer.username}>
                  <div>
                    {viewer.displayName}
                    <small>{viewer.username}</small>
                  </div>
                  <ActionButton
                    aria-label={`Stop sharing with ${viewer.username}`}
                    onAct={() => unshare(viewer.username)}
                  >
                    Stop sharing
                  </ActionButton>
                </li>
              ))}
            </ul>
            {sharedWithMe.length > 0 && (
              <p>
                Shared with you: {sharedWithMe.map(({ displayName }) => displayName).join(', ')}. Select one of them
                under “Board of” on <a href="/">the board</a>.
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
