import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { useAction } from '../shell/action-button.js';
import { Radios } from '../shell/radios.js';
import { theme } from '../shell/theme.js';
import type { Theme } from '../shell/theme.js';
import { timezone, toMoment } from '../shell/times.js';
import { say } from '../shell/toasts.js';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const ZONES = Intl.supportedValuesOf('timeZone');

export function Appearance() {
  const [, saveTheme] = useAction(async (chosen: Theme) => {
    theme.value = chosen;
    requireAnswer(await dashboard.PUT('/api/settings/theme', { body: { theme: chosen } }));
  });
  return (
    <section aria-labelledby="appearance">
      <h2 id="appearance" tabIndex={-1}>
        Appearance
      </h2>
      <p class="quiet">Kept with your account, so that other devices look the same.</p>
      <Radios legend="Theme" value={theme.value} options={THEMES} onValue={saveTheme} />
      <TimeZone />
    </section>
  );
}

function TimeZone() {
  const [, save] = useAction(async (chosen: string) => {
    requireAnswer(await dashboard.PUT('/api/settings/timezone', { body: { timezone: chosen } }));
    timezone.value = chosen;
    say('Times are shown in that zone from now on.');
  });
  return (
    <div class="field zone">
      <label for="timezone">Time zone</label>
      <select
        id="timezone"
        aria-describedby="timezone-hint"
        value={timezone.value}
        onChange={({ currentTarget }) => save(currentTarget.value)}
      >
        <option value="">As the browser says</option>
        {ZONES.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
      <p class="quiet" id="timezone-hint">
        So it is {toMoment(new Date().toISOString())} now.
      </p>
    </div>
  );
}
