import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { dashboardClient } from '../api.js';
import { pageData } from '../page-data.js';
import { user } from '../session.js';
import { sharedStorage } from './browser-storage.js';
import { timezone } from './times.js';

/** Loads the preferences of the signed-in user, unless the document has embedded them. */
export function usePreferences(): void {
  const name = user.value?.username;
  useEffect(() => {
    if (name !== undefined && name !== embedded?.username) void load();
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

export type Theme = '' | 'dark' | 'light';

const STORAGE_KEY = 'trellis-theme';

/**
 * The selected theme; empty follows the system. Also stored in the browser, so that pages have their colours at once.
 */
export const theme = signal<Theme>(toTheme(sharedStorage.getItem(STORAGE_KEY)));

export function startTheme(): void {
  effect(() => {
    document.documentElement.style.colorScheme = theme.value === '' ? 'light dark' : theme.value;
    sharedStorage.setItem(STORAGE_KEY, theme.value);
  });
}

function toTheme(text: string | null): Theme {
  return text === 'dark' || text === 'light' ? text : '';
}
