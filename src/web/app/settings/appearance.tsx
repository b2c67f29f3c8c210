import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { theme } from '../shell/theme.js';
import type { Theme } from '../shell/theme.js';
import { useAction } from '../shell/action-button.js';
import { timezone } from '../shell/times.js';
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
  const [, saveZone] = useAction(async (chosen: string) => {
    requireAnswer(await dashboard.PUT('/api/settings/timezone', { body: { timezone: chosen } }));
    timezone.value = chosen;
    say('Times are shown in that zone from now on.');
  });
  return (
    <section aria-labelledby="appearance">
      <h2 id="appearance">Appearance</h2>
      <fieldset>
        <legend>Theme</legend>
        {THEMES.map(([value, name]) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name="theme"
              value={value}
              checked={theme.value === value}
              onChange={() => saveTheme(value)}
            />{' '}
            {name}
          </label>
        ))}
      </fieldset>
      <div class="field">
        <label for="timezone">Time zone</label>
        <select id="timezone" value={timezone.value} onChange={({ currentTarget }) => saveZone(currentTarget.value)}>
          <option value="">As the browser says</option>
          {ZONES.map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </select>
      </div>
    </section>
  );
}
