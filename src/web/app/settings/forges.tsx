import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { publicOrigin } from '../page-data.js';
import { ConfirmButton, CopyButton } from '../ui/buttons.js';
import { Field, Form } from '../ui/form.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { FurtherCredentials } from './credentials.js';
import { ForgeForm } from './forge-form.js';
import { FORGE_GUIDES, type Settings, type SettingsRequest, toSettingsRequest } from './forge-guides.js';

const loadSettings = async (): Promise<Settings> => requireData(await dashboardClient.GET('/api/settings'));

export function Forges() {
  const settings = useResource(loadSettings);
  /**
   * Saves one part of the settings with the saved values of the others, which another tab may have changed; unsaved input
   * in other forms is not sent.
   */
  const save = async (part: SettingsRequest): Promise<void> => {
    const known = toSettingsRequest(await loadSettings());
    settings.set(requireData(await dashboardClient.PUT('/api/settings', { body: { ...known, ...part } })));
  };
  return (
    <section aria-labelledby="forges">
      <h2 id="forges" tabIndex={-1}>
        Code hosts
      </h2>
      <p class="quiet">Connect GitHub, GitLab or Forgejo. Tokens are stored encrypted and never shown again.</p>
      <AsyncContent from={settings}>
        {(value) => (
          <>
            {FORGE_GUIDES.map((guide) => (
              <ForgeForm key={guide.forge} guide={guide} settings={value} onSave={save} />
            ))}
            <FurtherCredentials />
            <Renovate settings={value} onSave={save} />
            <Webhook settings={value} onRotated={(rotated) => settings.set({ ...value, ...rotated })} />
          </>
        )}
      </AsyncContent>
    </section>
  );
}

interface RenovateProps {
  readonly settings: Settings;
  readonly onSave: (part: SettingsRequest) => Promise<void>;
}

/** How the board recognises Renovate, for every forge. */
function Renovate({ settings, onSave }: RenovateProps) {
  const [label, setLabel] = useState(settings.renovateRebaseLabel);
  const [authors, setAuthors] = useState(settings.renovateAuthors.join(', '));
  const save = async (): Promise<void> => {
    const names = authors.split(',').map((name) => name.trim());
    await onSave({ renovateRebaseLabel: label, renovateAuthors: names.filter((name) => name !== '') });
    showToast('Renovate settings saved.');
  };
  return (
    <fieldset>
      <legend>Renovate</legend>
      <Form verb="Save Renovate" onSave={save}>
        <Field label="Rebase label" maxLength={100} placeholder="rebase" value={label} onValue={setLabel} />
        <Field
          label="Further Renovate accounts"
          hint="Accounts that open its pull requests, in addition to the usual ones: up to 20, separated by commas."
          maxLength={1400}
          autoCapitalize="none"
          spellcheck={false}
          value={authors}
          onValue={setAuthors}
        />
      </Form>
    </fieldset>
  );
}

type Rotated = Pick<Settings, 'webhookSecret' | 'webhookToken'>;

interface WebhookProps {
  readonly settings: Settings;
  readonly onRotated: (rotated: Rotated) => void;
}

/** The URLs and the secret for setting up webhooks manually. The server always returns both to a session. */
function Webhook({ settings: { webhookToken = '', webhookSecret = '' }, onRotated }: WebhookProps) {
  const [formerUntil, setFormerUntil] = useState<string>();
  const rotate = async (): Promise<void> => {
    const { formerUntil: until, ...rotated } = requireData(await dashboardClient.POST('/api/webhooks/rotate'));
    onRotated(rotated);
    setFormerUntil(until);
    showToast('Webhook URLs and secret replaced.');
  };
  return (
    <fieldset>
      <legend>Manual webhooks</legend>
      <p class="quiet">
        With webhooks, changes appear instantly. The <a href="/repositories">list of repositories</a> sets them up where
        the token has the permission. Elsewhere, add a webhook yourself: enter the URL and the secret, and choose JSON
        as the content type.
      </p>
      <dl class="webhook">
        {FORGE_GUIDES.map(({ forge, name }) => (
          <WebhookValue
            key={forge}
            name={`URL for ${name}`}
            value={`${publicOrigin || location.origin}/api/webhooks/${forge}/${webhookToken}`}
            what={`the URL for ${name}`}
          />
        ))}
        <Secret value={webhookSecret} />
      </dl>
      {formerUntil !== undefined && (
        <p role="status">
          The previous URLs and secret work until {formatDateTime(formerUntil)}. Update your webhooks before then.
        </p>
      )}
      <div class="acts">
        <ConfirmButton class="danger" question="Replace URLs and secret?" onAct={rotate}>
          Replace URLs and secret
        </ConfirmButton>
      </div>
    </fieldset>
  );
}

interface WebhookValueProps {
  readonly name: string;
  readonly value: string;
  readonly what: string;
  /** Shown in place of the value. */
  readonly children?: ComponentChildren;
}

const WebhookValue = ({ name, value, what, children }: WebhookValueProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {children ?? <code>{value}</code>}
      <CopyButton value={value} what={what} />
    </dd>
  </div>
);

function Secret({ value }: { readonly value: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <WebhookValue name="Secret" value={value} what="the secret">
      <code>{isShown ? value : '•'.repeat(12)}</code>
      <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        Show <span class="aside">the secret</span>
      </button>
    </WebhookValue>
  );
}
