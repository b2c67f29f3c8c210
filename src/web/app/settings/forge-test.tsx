import { useState } from 'preact/hooks';
import type { VNode } from 'preact';
import type { components } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
import { FORGE_TITLES } from './forge-guides.js';
import type { SettingsRequest } from './settings-request.js';

type ForgeTest = components['schemas']['ForgeTest'];

interface UsedForgeTest {
  readonly button: VNode;
  readonly result: VNode;
  readonly clear: () => void;
}

/** Asks a forge with what is typed, saved or not. */
export function useForgeTest(
  forge: ForgeTest['forge'],
  settings: SettingsRequest,
  onUsername: (username: string) => void,
): UsedForgeTest {
  const [found, setFound] = useState<ForgeTest>();
  const test = async (): Promise<void> => {
    setFound(undefined);
    const answer = requireAnswer(await dashboard.POST('/api/settings/test', { body: { forge, settings } }));
    setFound(answer);
    if (answer.username !== undefined) onUsername(answer.username);
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

function Result({ found: { forge, works, username, repoCount, missing, error } }: { readonly found: ForgeTest }) {
  return (
    <>
      {works ? (
        <p class="good">
          {FORGE_TITLES[forge]} answers{username !== undefined && ` to ${username}`}: {count(repoCount ?? 0)}.
        </p>
      ) : (
        <p class="bad">{error}</p>
      )}
      {missing.length > 0 && (
        <>
          <p>What is missing:</p>
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
