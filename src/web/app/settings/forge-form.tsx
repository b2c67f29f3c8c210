import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { user } from '../session.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { Field, Form, HiddenField } from '../ui/form.js';
import { formatDateTime } from '../ui/times.js';
import { showError, showToast } from '../ui/toasts.js';
import {
  FORGE_TITLES,
  type ForgeGuide,
  type Settings,
  type SettingsRequest,
  toSettingsRequest,
} from './forge-guides.js';

interface ForgeFormProps {
  readonly guide: ForgeGuide;
  readonly settings: Settings;
  readonly onSave: (part: SettingsRequest) => Promise<void>;
}

/** The connection settings of a forge, which can be tested before they are saved. */
export function ForgeForm({ guide, settings, onSave }: ForgeFormProps) {
  const { forge, name, url, username, token, tokenSet } = guide;
  const stored: SettingsRequest = { [url]: settings[url], [username]: settings[username], [token]: '' };
  const [draft, setDraft] = useState<SettingsRequest>(stored);
  const edit = (change: SettingsRequest): void => setDraft((before) => ({ ...before, ...change }));
  const test = useConnectionTest(forge, { ...toSettingsRequest(settings), ...draft }, (found) => {
    // Without a username, the board cannot determine whose turn it is.
    if (draft[username] === '') edit({ [username]: found });
  });
  const save = async (): Promise<void> => {
    const isNewToken = (draft[token] ?? '') !== '';
    await onSave(draft);
    // A failed test request says nothing about the token.
    const isRefused = isNewToken && !(await test.run().catch(() => true));
    // The test takes seconds, in which the user may have typed a different token.
    setDraft((now) => (now[token] === draft[token] ? { ...now, [token]: '' } : now));
    if (isRefused) showError(new Error(`${name} settings saved, but ${name} could not be read with them.`));
    else showToast(`${name} settings saved. The board is refreshing.`);
  };
  const remove = async (): Promise<void> => {
    const none = { [url]: '', [username]: '', [token]: '' };
    await onSave({ ...none, [token]: null, ...(forge === 'github' && { githubAppInstallationId: 0 }) });
    setDraft(none);
    test.clear();
    showToast(`${name} removed, with its token and its data on the board.`);
  };
  const isSet = settings[tokenSet] || settings[username] !== '' || settings[url] !== '';
  const others = (
    <>
      {test.button}
      {isSet && (
        <ConfirmButton class="danger" question={`Remove ${name}?`} onAct={remove}>
          Remove {name}
        </ConfirmButton>
      )}
    </>
  );
  return (
    <fieldset>
      <legend>{name}</legend>
      <Form verb={`Save ${name}`} onSave={save} beside={others}>
        <Field
          label="URL"
          type="url"
          maxLength={2048}
          placeholder={guide.placeholder}
          hint={guide.addressHint}
          value={draft[url] ?? ''}
          onValue={(value) => edit({ [url]: value })}
        />
        <Field
          label="Username"
          maxLength={64}
          autoCapitalize="none"
          spellcheck={false}
          hint="Your username there. The board uses it to determine whose turn it is."
          value={draft[username] ?? ''}
          onValue={(value) => edit({ [username]: value })}
        />
        <HiddenField
          label="Token"
          maxLength={512}
          hint={settings[tokenSet] ? 'A token is saved. Leave empty to keep it.' : undefined}
          value={draft[token] ?? ''}
          onValue={(value) => edit({ [token]: value })}
        />
        {forge === 'github' && settings.githubAppConfigured && user.value?.isAdmin && (
          <Installation
            id={draft.githubAppInstallationId ?? settings.githubAppInstallationId}
            onId={(githubAppInstallationId) => edit({ githubAppInstallationId })}
          />
        )}
        <ForgePermissions guide={guide} address={draft[url] ?? ''} />
      </Form>
      {test.result}
    </fieldset>
  );
}

interface InstallationProps {
  readonly id: number;
  readonly onId: (id: number) => void;
}

function Installation({ id, onId }: InstallationProps) {
  return (
    <Field
      label="GitHub App installation ID"
      type="number"
      min={1}
      hint="The number at the end of the installation’s URL on GitHub. It is used instead of the token."
      value={id === 0 ? '' : String(id)}
      onValue={(text) => onId(Number(text))}
    />
  );
}

interface ForgePermissionsProps {
  readonly guide: ForgeGuide;
  /** The URL as typed, which may be invalid. */
  readonly address: string;
}

/** The permissions that a token needs, their purposes, and a link to the page that creates tokens. */
function ForgePermissions({ guide, address }: ForgePermissionsProps) {
  const { name, permissions, note, tokenPage, placeholder } = guide;
  return (
    <details class="guide">
      <summary>Permissions of a {name} token</summary>
      <ul>
        {permissions.map(({ permission, purpose }) => (
          <li key={permission}>
            <strong>{permission}</strong>, {purpose}
          </li>
        ))}
      </ul>
      {note !== undefined && <p>{note}</p>}
      <p>
        <a href={toTokenPage(address === '' ? placeholder : address, tokenPage)} target="_blank" rel="noreferrer">
          Create a token on {name}
        </a>
      </p>
    </details>
  );
}

/** Returns `undefined` for an invalid URL. */
function toTokenPage(address: string, page: string): string | undefined {
  return /^https?:\/\/./.test(address) && URL.canParse(address) ? address.replace(/\/+$/, '') + page : undefined;
}

type ForgeTest = components['schemas']['ForgeTest'];

interface ForgeTestParts {
  readonly button: VNode;
  readonly result: VNode;
  /** Runs the test, shows its result, and returns whether the connection works. */
  readonly run: () => Promise<boolean>;
  readonly clear: () => void;
}

/** Tests the connection to a forge with the typed settings, whether or not they are saved. */
function useConnectionTest(
  forge: ForgeTest['forge'],
  settings: SettingsRequest,
  onUsername: (username: string) => void,
): ForgeTestParts {
  const [found, setFound] = useState<ForgeTest>();
  const run = async (): Promise<boolean> => {
    setFound(undefined);
    const result = requireData(await dashboardClient.POST('/api/settings/test', { body: { forge, settings } }));
    setFound(result);
    if (result.username !== undefined) onUsername(result.username);
    return result.works;
  };
  return {
    run,
    button: <ActionButton onAct={async () => void (await run())}>Test {FORGE_TITLES[forge]}</ActionButton>,
    result: (
      <div role="status" class="tested">
        {found && <TestResult found={found} />}
      </div>
    ),
    clear: () => setFound(undefined),
  };
}

/** The result of a connection test. */
export function TestResult({
  found: { works, username, repoCount, missing, error, expiresAt },
}: {
  readonly found: ForgeTest;
}) {
  return (
    <>
      {works ? (
        <p class="good">
          Connected{username !== undefined && ` as ${username}`} · {count(repoCount ?? 0)}
          {expiresAt !== undefined && ` · expires on ${formatDateTime(expiresAt)}`}
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
