import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { FORGE_GUIDES, type Settings, toSettingsRequest } from '../settings/forge-guides.js';
import { Field, Form, FormError, HiddenField, Select, useFormError } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';

const OPTIONS = FORGE_GUIDES.map(({ forge, name }) => [forge, name] as const);

/** Connects the first code host: tests the token, finds the username, saves both and opens the board. */
export function ConnectForge({ settings }: { readonly settings: Settings }) {
  const { route } = useLocation();
  const [forge, setForge] = useState<(typeof OPTIONS)[number][0]>('github');
  const [address, setAddress] = useState('');
  const [token, setToken] = useState('');
  const guide = FORGE_GUIDES.find((one) => one.forge === forge);
  const [problem, connect] = useFormError(async () => {
    if (guide === undefined) return;
    const typed = address === '' && forge !== 'github' ? guide.placeholder : address;
    const draft = { ...toSettingsRequest(settings), [guide.url]: typed, [guide.token]: token };
    const found = requireData(await dashboardClient.POST('/api/settings/test', { body: { forge, settings: draft } }));
    if (!found.works) throw new Error(found.error ?? `${guide.name} could not be read with this token.`);
    const body = { ...draft, ...(found.username !== undefined && { [guide.username]: found.username }) };
    requireData(await dashboardClient.PUT('/api/settings', { body }));
    showToast(`${guide.name} connected. The board is refreshing.`);
    route('/');
  });
  return (
    <Form
      verb="Connect"
      onSave={connect}
      beside={
        <a class="button" href="/settings">
          More settings
        </a>
      }
    >
      <div class="field">
        <Select label="Code host" value={forge} options={OPTIONS} onValue={setForge} />
      </div>
      <Field
        label="URL"
        type="url"
        maxLength={2048}
        placeholder={guide?.placeholder}
        hint="Leave empty for the address that is shown."
        value={address}
        onValue={setAddress}
      />
      <HiddenField
        label="Token"
        maxLength={512}
        hint="Stored encrypted. Settings lists the permissions that it needs."
        value={token}
        onValue={setToken}
      />
      <FormError problem={problem} />
    </Form>
  );
}
