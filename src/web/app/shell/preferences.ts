import { useEffect } from 'preact/hooks';
import { dashboard } from '../clients.js';
import { pageFacts, runs } from '../server-facts.js';
import { user } from '../session.js';
import { theme } from './theme.js';
import { timezone } from './times.js';

/** Takes over what the person chose at another device, as soon as it is known who they are. */
export function usePreferences(): void {
  const name = user.value?.username;
  useEffect(() => {
    if (name !== undefined && name !== told?.username && runs('dashboard')) void load();
  }, [name]);
}

/** Of whom the document tells. */
const told = pageFacts?.session;

/** Takes over what the document tells, before anything is drawn. */
export function startPreferences(): void {
  if (!pageFacts || !told) return;
  theme.value = pageFacts.theme;
  timezone.value = pageFacts.timezone;
}

/** Without an answer, pages look as this browser left them. */
async function load(): Promise<void> {
  const shown = { theme: theme.value, timezone: timezone.value };
  const [saved, zone] = await Promise.all([
    dashboard.GET('/api/settings/theme').catch(() => undefined),
    dashboard.GET('/api/settings/timezone').catch(() => undefined),
  ]);
  // Whoever has chosen something meanwhile meant that.
  if (saved?.data !== undefined && theme.value === shown.theme) theme.value = saved.data.theme;
  if (zone?.data !== undefined && timezone.value === shown.timezone) timezone.value = zone.data.timezone;
}
