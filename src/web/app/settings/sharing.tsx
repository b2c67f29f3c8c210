import { useState } from 'preact/hooks';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { ActionButton } from '../ui/action-button.js';
import { Form } from '../ui/form.js';
import { AsyncContent } from '../ui/async-content.js';
import { showToast } from '../ui/toasts.js';
import { useResource } from '../ui/use-resource.js';
import { UsernameField } from '../ui/username-field.js';

const loadSharing = async () => requireData(await dashboardClient.GET('/api/sharing'));

export function SharingSection() {
  const sharing = useResource(loadSharing);
  const [username, setUsername] = useState('');
  const share = async (): Promise<void> => {
    requireData(await dashboardClient.PUT('/api/sharing/{username}', { params: { path: { username } } }));
    setUsername('');
    await sharing.reload();
    showToast(`${username} can now view your board.`);
  };
  const unshare = async (name: string): Promise<void> => {
    requireData(await dashboardClient.DELETE('/api/sharing/{username}', { params: { path: { username: name } } }));
    await sharing.reload();
    showToast(`${name} can no longer view your board.`);
  };
  return (
    <section aria-labelledby="sharing">
      <h2 id="sharing" tabIndex={-1}>
        Sharing
      </h2>
      <p class="quiet">These people can view your board but not change it.</p>
      <AsyncContent from={sharing}>
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
      </AsyncContent>
      <Form verb="Share" onSave={share}>
        <UsernameField value={username} onValue={setUsername} />
      </Form>
    </section>
  );
}
