import { useState } from 'preact/hooks';
import type { VNode } from 'preact';
import type { components } from '../../../generated/dashboard/client.js';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { ActionButton } from '../ui/action-button.js';
import { FORGE_TITLES } from './forge-guides.js';
import type { SettingsRequest } from './settings-request.js';

type ForgeTest = components['schemas']['ForgeTest'];

interface ForgeTestParts {
  readonly button: VNode;
  readonly result: VNode;
  readonly clear: () => void;
}

/** Tests the connection to a forge with the typed settings, whether or not they are saved. */
export function useConnectionTest(
  forge: ForgeTest['forge'],
  settings: SettingsRequest,
  onUsername: (username: string) => void,
): ForgeTestParts {
  const [found, setFound] = useState<ForgeTest>();
  const test = async (): Promise<void> => {
    setFound(undefined);
    const result = requireData(await dashboardClient.POST('/api/settings/test', { body: { forge, settings } }));
    setFound(result);
    if (result.username !== undefined) onUsername(result.username);
  };
  return {
    button: <ActionButton onAct={test}>Test {FORGE_TITLES[forge]}</ActionButton>,
    result: (
      <div role="status" class="tested">
        {found && <Result found={found} />}
      </div>
    ),
    clear: () => setFound(undefined),
  };
}

function Result({ found: { works, username, repoCount, missing, error } }: { readonly found: ForgeTest }) {
  return (
    <>
      {works ? (
        <p class="good">
          Connected{username !== undefined && ` as ${username}`} · {count(repoCount ?? 0)}
        </p>
      ) : (
        <p class="bad">{error}</p>
      )}
      {missing.length > 0 && (
        <>
          <p>Missing permissions:</p>
          <ul>
            {missing.map(({ permission, purpose }) => (
              <li key={permission}>
                <strong>{permission}</strong>, {purpose}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

const count = (repositories: number): string => (repositories === 1 ? '1 repository' : `${repositories} repositories`);
