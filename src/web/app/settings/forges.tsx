import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
import { CopyButton } from '../shell/copy-button.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Loaded } from '../shell/loaded.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';
import { GUIDES } from './forge-guides.js';
import type { ForgeGuide } from './forge-guides.js';

type Settings = components['schemas']['Settings'];
type SettingsRequest = components['schemas']['SettingsRequest'];
type ForgeHealth = components['schemas']['ForgeHealth'];

const loadSettings = async (): Promise<Settings> => requireAnswer(await dashboard.GET('/api/settings'));

export function Forges() {
  const settings = useResource(loadSettings);
  return (
    <section aria-labelledby="forges">
      <h2 id="forges">Forges</h2>
      <p class="quiet">Where your pull requests are. Tokens are kept encrypted, and never shown again.</p>
      <Loaded from={settings}>
        {(value) => (
          <>
            <ForgeForm settings={value} onSaved={settings.set} />
            <Webhook settings={value} />
          </>
        )}
      </Loaded>
    </section>
  );
}

interface ForgeFormProps {
  readonly settings: Settings;
  readonly onSaved: (settings: Settings) => void;
}

function ForgeForm({ settings, onSaved }: ForgeFormProps) {
  const [draft, setDraft] = useState<SettingsRequest>(() => toRequest(settings));
  const save = async (): Promise<void> => {
    const body = { ...draft, renovateAuthors: [...(draft.renovateAuthors ?? [])] };
    const saved = requireAnswer(await dashboard.PUT('/api/settings', { body }));
    onSaved(saved);
    setDraft(toRequest(saved));
    say('Your forges are saved; the board is being read.');
  };
  const edit = (change: Partial<SettingsRequest>): void => setDraft({ ...draft, ...change });
  return (
    <>
      {GUIDES.map((guide) => (
        <Form key={guide.forge} verb={`Save ${guide.name}`} onSave={save}>
          <ForgeFields guide={guide} settings={settings} draft={draft} onEdit={edit} />
        </Form>
      ))}
      <Form verb="Save Renovate" onSave={save}>
        <fieldset>
          <legend>Renovate</legend>
          <Field
            label="The label that makes it rebase"
            maxLength={100}
            value={draft.renovateRebaseLabel ?? ''}
            onValue={(renovateRebaseLabel) => edit({ renovateRebaseLabel })}
          />
          <Field
            label="Accounts that open its pull requests"
            hint="Besides its own; separated by commas."
            value={(draft.renovateAuthors ?? []).join(', ')}
            onValue={(text) => edit({ renovateAuthors: text.split(',').map((name) => name.trim()) })}
          />
        </fieldset>
      </Form>
      <Test />
    </>
  );
}

interface ForgeFieldsProps {
  readonly guide: ForgeGuide;
  readonly settings: Settings;
  readonly draft: SettingsRequest;
  readonly onEdit: (change: Partial<SettingsRequest>) => void;
}

function ForgeFields({ guide, settings, draft, onEdit }: ForgeFieldsProps) {
  const { name, url, username, token, tokenSet, permissions } = guide;
  const isSet = settings[tokenSet];
  return (
    <fieldset>
      <legend>{name}</legend>
      <Field
        label="Address"
        type="url"
        maxLength={2048}
        placeholder={guide.placeholder}
        value={draft[url] ?? ''}
        onValue={(value) => onEdit({ [url]: value })}
      />
      <Field
        label="Username"
        maxLength={64}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        value={draft[username] ?? ''}
        onValue={(value) => onEdit({ [username]: value })}
      />
      <Field
        label="Token"
        type="password"
        maxLength={512}
        autoComplete="off"
        placeholder={isSet ? 'One is kept; leave this empty to keep it' : ''}
        hint={permissions}
        value={draft[token] ?? ''}
        onValue={(value) => onEdit({ [token]: value })}
      />
      {isSet && draft[token] !== null && (
        <button type="button" onClick={() => onEdit({ [token]: null })}>
          Forget the token of {name}
        </button>
      )}
      {draft[token] === null && <p role="status">The token of {name} is forgotten when you save.</p>}
    </fieldset>
  );
}

function toRequest(settings: Settings): SettingsRequest {
  const { githubUrl, githubUsername, githubAppInstallationId, forgejoUrl, forgejoUsername } = settings;
  const { gitlabUrl, gitlabUsername, renovateRebaseLabel, renovateAuthors } = settings;
  return {
    ...{ githubUrl, githubUsername, githubAppInstallationId, forgejoUrl, forgejoUsername },
    ...{ gitlabUrl, gitlabUsername, renovateRebaseLabel, renovateAuthors },
  };
}

/** Asks the forges with what is saved, and says what each answered. */
function Test() {
  const [forges, setForges] = useState<readonly ForgeHealth[]>();
  const test = async (): Promise<void> => {
    const { forges: found } = requireAnswer(await dashboard.POST('/api/dashboard/refresh', { params: {} }));
    setForges(found);
  };
  return (
    <div class="test">
      <ActionButton onAct={test}>Test what is saved</ActionButton>
      <div role="status">
        {forges?.length === 0 && <p>No forge is set up.</p>}
        {forges?.map(({ forge, reachable, repoCount, error }) => (
          <p key={forge} class={reachable ? 'good' : 'bad'}>
            {forge}: {reachable ? `reached, ${repoCount} repositories` : error}
          </p>
        ))}
      </div>
    </div>
  );
}

function Webhook({ settings: { webhookToken, webhookSecret } }: { readonly settings: Settings }) {
  return (
    <details>
      <summary>Webhooks by hand</summary>
      <p>With them a change shows at once. The board’s list of repositories can set them up by itself, too.</p>
      <table>
        <tbody>
          {GUIDES.map(({ forge, name }) => {
            const address = `${location.origin}/api/webhooks/${forge}/${webhookToken}`;
            return (
              <tr key={forge}>
                <th scope="row">Address for {name}</th>
                <td>
                  <code>{address}</code> <CopyButton value={address} what={`the address for ${name}`} />
                </td>
              </tr>
            );
          })}
          <tr>
            <th scope="row">Secret</th>
            <td>
              <CopyButton value={webhookSecret} what="the secret" />
            </td>
          </tr>
        </tbody>
      </table>
    </details>
  );
}
