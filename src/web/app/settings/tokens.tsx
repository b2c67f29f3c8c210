import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { AsyncContent } from '../ui/async-content.js';
import { OneTimeSecret } from '../ui/one-time-secret.js';
import { formatDate } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { useResource } from '../ui/use-resource.js';
import { NewToken } from './new-token.js';

type APIToken = components['schemas']['APIToken'];

const loadTokens = async () => requireData(await dashboardClient.GET('/api/tokens'));

export function Tokens() {
  const tokens = useResource(loadTokens);
  const [made, setMade] = useState<string>();
  const revoke = async ({ id, label }: APIToken): Promise<void> => {
    requireData(await dashboardClient.DELETE('/api/tokens/{id}', { params: { path: { id } } }));
    setMade(undefined);
    await tokens.reload();
    showToast(`Token “${label}” revoked.`);
  };
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens" tabIndex={-1}>
        API tokens
      </h2>
      <p class="quiet">
        Tokens let scripts use the API. Send them as <code>Authorization: Bearer</code>.
      </p>
      {made !== undefined && <OneTimeSecret label="New token. Copy it now: it won’t be shown again." value={made} />}
      <AsyncContent from={tokens}>
        {(list) => (
          <ul class="things">
            {list.length === 0 && <li>No tokens.</li>}
            {list.map((token) => (
              <li key={token.id}>
                <div>
                  {token.label}
                  <small>{describe(token)}</small>
                </div>
                <ConfirmButton
                  class="danger"
                  label={`Revoke ${token.label}`}
                  question="Revoke token?"
                  onAct={() => revoke(token)}
                >
                  Revoke
                </ConfirmButton>
              </li>
            ))}
          </ul>
        )}
      </AsyncContent>
      <NewToken
        onMade={async (token) => {
          setMade(token);
          await tokens.reload();
        }}
      />
    </section>
  );
}

function describe({ scopes, expiresAt, lastUsedAt }: APIToken): string {
  return [
    scopes.includes('write') ? 'read and write' : 'read only',
    Date.parse(expiresAt) > Date.now() ? `expires ${formatDate(expiresAt)}` : 'expired',
    lastUsedAt === undefined ? 'never used' : `last used ${formatDate(lastUsedAt)}`,
  ].join(' · ');
}
