import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { ForgeForm } from './forge-form.js';
import { FORGE_GUIDES } from './forge-guides.js';
import { Renovate } from './renovate.js';
import { toSettingsRequest } from './settings-request.js';
import type { Settings, SettingsRequest } from './settings-request.js';
import { Webhook } from './webhook.js';

const loadSettings = async (): Promise<Settings> => requireData(await dashboardClient.GET('/api/settings'));

export function Forges() {
  const settings = useResource(loadSettings);
  /** Saves one part of the settings with the saved values of the others; unsaved input in other forms is not sent. */
  const save = async (part: SettingsRequest): Promise<void> => {
    const known = settings.value === undefined ? {} : toSettingsRequest(settings.value);
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
            <Renovate settings={value} onSave={save} />
            <Webhook settings={value} onRotated={(rotated) => settings.set({ ...value, ...rotated })} />
          </>
        )}
      </AsyncContent>
    </section>
  );
}
