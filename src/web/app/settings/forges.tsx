import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { ForgeForm } from './forge-form.js';
import { GUIDES } from './forge-guides.js';
import { Renovate } from './renovate.js';
import { toRequest } from './settings-request.js';
import type { Settings, SettingsRequest } from './settings-request.js';
import { Webhook } from './webhook.js';

const loadSettings = async (): Promise<Settings> => requireAnswer(await dashboard.GET('/api/settings'));

export function Forges() {
  const settings = useResource(loadSettings);
  /** One part of the settings; the others stay as they are saved, whatever is typed beside. */
  const save = async (part: SettingsRequest): Promise<void> => {
    const known = settings.value === undefined ? {} : toRequest(settings.value);
    settings.set(requireAnswer(await dashboard.PUT('/api/settings', { body: { ...known, ...part } })));
  };
  return (
    <section aria-labelledby="forges">
      <h2 id="forges" tabIndex={-1}>
        Forges
      </h2>
      <p class="quiet">Where your pull requests are. Tokens are kept encrypted, and never shown again.</p>
      <Loaded from={settings}>
        {(value) => (
          <>
            {GUIDES.map((guide) => (
              <ForgeForm key={guide.forge} guide={guide} settings={value} onSave={save} />
            ))}
            <Renovate settings={value} onSave={save} />
            <Webhook settings={value} onRotated={(rotated) => settings.set({ ...value, ...rotated })} />
          </>
        )}
      </Loaded>
    </section>
  );
}
