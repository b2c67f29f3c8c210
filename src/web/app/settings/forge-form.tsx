import { useState } from 'preact/hooks';
import { user } from '../session.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { HiddenField } from '../ui/hidden-field.js';
import { showToast } from '../ui/toasts.js';
import type { ForgeGuide } from './forge-guides.js';
import { ForgePermissions } from './forge-permissions.js';
import { useConnectionTest } from './use-connection-test.js';
import { toSettingsRequest } from './settings-request.js';
import type { Settings, SettingsRequest } from './settings-request.js';

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
    await onSave(draft);
    edit({ [token]: '' });
    showToast(`${name} settings saved. The board is refreshing.`);
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
          autoComplete="off"
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
