import './settings.css';
import type { Signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { dashboardClient, requireData, saveLatest } from '../api.js';
import { hasUsers, isServiceEnabled } from '../page-data.js';
import { announceUser, user } from '../session.js';
import { ActionButton, ConfirmButton } from '../ui/buttons.js';
import { Radios } from '../ui/form.js';
import { Heading } from '../ui/headings.js';
import { theme, type Theme } from '../ui/preferences.js';
import { formatDateTime, serverNow, timezone } from '../ui/times.js';
import { showError, showToast } from '../ui/toasts.js';
import { FeedsSection, SharingSection, Tokens } from './access.js';
import { PasskeysSection, SessionsSection } from './account.js';
import { Forges } from './forges.js';
import { NotificationsSection } from './notifications.js';

interface Section {
  readonly id: string;
  readonly name: string;
  readonly Content: ComponentType;
  /** Whether this server has what the section is about; by default only with the dashboard. */
  readonly isThere?: boolean;
}

const ALL: readonly Section[] = [
  { id: 'forges', name: 'Code hosts', Content: Forges },
  { id: 'tokens', name: 'API tokens', Content: Tokens, isThere: hasUsers },
  { id: 'passkeys', name: 'Passkeys', Content: PasskeysSection, isThere: true },
  { id: 'sessions', name: 'Sessions', Content: SessionsSection, isThere: true },
  { id: 'sharing', name: 'Sharing', Content: SharingSection },
  { id: 'feeds', name: 'Feeds and badges', Content: FeedsSection },
  { id: 'notifications', name: 'Notifications', Content: NotificationsSection },
  { id: 'appearance', name: 'Appearance', Content: Appearance, isThere: true },
];

const SECTIONS = ALL.filter(({ isThere }) => isThere ?? isServiceEnabled('dashboard'));

export function SettingsPage() {
  return (
    <>
      <Heading>Settings</Heading>
      <div class="signed-in">
        <p>
          Signed in as {user.value?.displayName} ({user.value?.username}){user.value?.isAdmin ? ', admin' : ''}.
        </p>
        <ActionButton onAct={signOut}>Sign out</ActionButton>
        <ConfirmButton question="Sign out on every device?" onAct={signOutEverywhere}>
          Sign out everywhere
        </ConfirmButton>
      </div>
      <div class="settings">
        <nav class="sections" aria-label="Settings">
          <ul>
            {SECTIONS.map(({ id, name }) => (
              <li key={id}>
                <a href={`#${id}`}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
        <div>
          {SECTIONS.map(({ id, Content }) => (
            <Content key={id} />
          ))}
        </div>
      </div>
    </>
  );
}

async function signOut(): Promise<void> {
  requireData(await dashboardClient.POST('/api/auth/logout'));
  leave();
}

async function signOutEverywhere(): Promise<void> {
  requireData(await dashboardClient.POST('/api/auth/logout-everywhere'));
  leave();
}

/** Loads a new document, so that no data of the session stays in the page. The other tabs do so too. */
function leave(): void {
  announceUser('');
  location.assign('/sign-in');
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ['', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const ZONES = Intl.supportedValuesOf('timeZone');

function Appearance() {
  const choose = useAutosave(theme, async (chosen) => {
    requireData(await dashboardClient.PUT('/api/settings/theme', { body: { theme: chosen }, keepalive: true }));
  });
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
  const choose = useAutosave(timezone, async (chosen) => {
    requireData(await dashboardClient.PUT('/api/settings/timezone', { body: { timezone: chosen }, keepalive: true }));
    showToast('Time zone updated.');
  });
  const { value } = timezone;
  // A different browser may have another name for the zone, such as Asia/Kolkata for Asia/Calcutta.
  const zones = value === '' || ZONES.includes(value) ? ZONES : [value, ...ZONES];
  return (
    <div class="field zone">
      <label for="timezone">Time zone</label>
      <select
        id="timezone"
        aria-describedby="timezone-hint"
        value={value}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">Browser default</option>
        {zones.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
      <p class="quiet" id="timezone-hint">
        Current time: {formatDateTime(new Date(serverNow()).toISOString())}
      </p>
    </div>
  );
}

/**
 * Returns a function that changes a setting and saves it, one value at a time, as {@link saveLatest} does. If that fails, an
 * error is shown as a toast, and the setting returns to the saved value.
 */
function useAutosave<Value extends string>(
  setting: Signal<Value>,
  save: (value: Value) => Promise<void>,
): (value: Value) => void {
  const [choose] = useState(() => {
    let saved: Value | undefined;
    const saveNewest = saveLatest(async (value: Value) => {
      try {
        await save(value);
        saved = value;
      } catch (error) {
        showError(error);
        if (setting.peek() === value && saved !== undefined) setting.value = saved;
      }
    });
    return (value: Value): void => {
      saved ??= setting.peek();
      setting.value = value;
      saveNewest(value);
    };
  });
  return choose;
}
