import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { Radios } from '../ui/radios.js';
import { theme } from '../ui/theme.js';
import type { Theme } from '../ui/theme.js';
import { timezone, formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { useAutosave } from '../ui/use-autosave.js';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const ZONES = Intl.supportedValuesOf('timeZone');

export function Appearance() {
  const save = useAutosave(async (chosen: Theme) => {
    requireData(await dashboardClient.PUT('/api/settings/theme', { body: { theme: chosen }, keepalive: true }));
  });
  const choose = (chosen: Theme): void => {
    theme.value = chosen;
    save(chosen);
  };
  return (
    <section aria-labelledby="appearance">
      <h2 id="appearance" tabIndex={-1}>
        Appearance
      </h2>
      <p class="quiet">Saved to your account and synced across devices.</p>
      <Radios legend="Theme" value={theme.value} options={THEMES} onValue={choose} />
      <TimeZone />
    </section>
  );
}

function TimeZone() {
  const save = useAutosave(async (chosen: string) => {
    requireData(await dashboardClient.PUT('/api/settings/timezone', { body: { timezone: chosen }, keepalive: true }));
    showToast('Time zone updated.');
  });
  const choose = (chosen: string): void => {
    timezone.value = chosen;
    save(chosen);
  };
  return (
    <div class="field zone">
      <label for="timezone">Time zone</label>
      <select
        id="timezone"
        aria-describedby="timezone-hint"
        value={timezone.value}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">Browser default</option>
        {ZONES.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
      <p class="quiet" id="timezone-hint">
        Current time: {formatDateTime(new Date().toISOString())}
      </p>
    </div>
  );
}
