import { useEffect } from 'preact/hooks';
import { dashboardClient } from '../clients.js';
import { pageData, isServiceEnabled } from '../page-data.js';
import { user } from '../session.js';
import { theme } from './theme.js';
import { timezone } from './times.js';

/** Loads the preferences of the signed-in user, unless the document has embedded them. */
export function usePreferences(): void {
  const name = user.value?.username;
  useEffect(() => {
    if (name !== undefined && name !== embedded?.username && isServiceEnabled('dashboard')) void load();
  }, [name]);
}

/** The user whose preferences the document embeds. */
const embedded = pageData?.session;

/** Applies the preferences that the document embeds, before anything is drawn. */
export function startPreferences(): void {
  if (!pageData || !embedded) return;
  theme.value = pageData.theme;
  timezone.value = pageData.timezone;
}

/** After a failed request, the preferences of this browser stay in effect. */
async function load(): Promise<void> {
  const shown = { theme: theme.value, timezone: timezone.value };
  const [saved, zone] = await Promise.all([
    dashboardClient.GET('/api/settings/theme').catch(() => undefined),
    dashboardClient.GET('/api/settings/timezone').catch(() => undefined),
  ]);
  // A choice that the user made during the request takes precedence.
  if (saved?.data !== undefined && theme.value === shown.theme) theme.value = saved.data.theme;
  if (zone?.data !== undefined && timezone.value === shown.timezone) timezone.value = zone.data.timezone;
}
