import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { Radios } from '../shell/radios.js';
import { theme } from '../shell/theme.js';
import type { Theme } from '../shell/theme.js';
import { timezone, toMoment } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { useKeeper } from '../shell/use-keeper.js';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const ZONES = Intl.supportedValuesOf('timeZone');

export function Appearance() {
  const save = useKeeper(async (chosen: Theme) => {
    requireAnswer(await dashboard.PUT('/api/settings/theme', { body: { theme: chosen }, keepalive: true }));
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
  const save = useKeeper(async (chosen: string) => {
    requireAnswer(await dashboard.PUT('/api/settings/timezone', { body: { timezone: chosen }, keepalive: true }));
    say('Time zone updated.');
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
        Current time: {toMoment(new Date().toISOString())}
      </p>
    </div>
  );
}
