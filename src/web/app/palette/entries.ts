import { dashboardClient, requireData } from '../api.js';
import { newestBoard } from '../board/data/board-store.js';
import { formatRepositoryName } from '../board/data/rows.js';
import { isServiceEnabled } from '../page-data.js';
import { APP_PAGES } from '../routes.js';
import { linkToSecret } from '../secrets/names.js';
import { user } from '../session.js';
import { type Theme, theme } from '../ui/preferences.js';

/** Something that the palette opens or does. */
export interface Entry {
  readonly kind: 'Action' | 'Help' | 'Page' | 'Pull request' | 'Repository' | 'Secret' | 'Site';
  readonly name: string;
  /** Further text that the search covers, shown beside the name. */
  readonly detail?: string;
  /** An address of this server, which the router opens; others open in a new tab. */
  readonly href?: string;
  readonly act?: () => void;
}

/** The names of pages that the navigation does not list. */
const UNLISTED_NAMES: Readonly<Record<string, string>> = {
  '/repositories': 'Repositories',
  '/vault/new': 'New secret',
  '/vault/import': 'Import a .env file',
  '/vault/consumers': 'Consumers',
  '/vault/writers': 'Writers of secrets',
  '/vault/tokens': 'Tokens of secrets',
  '/vault/device': 'Approve a command line',
  '/vault/audit': 'Audit log',
  '/vault/identity': 'My key',
  '/site/records': 'Records of the site',
  '/site/transform': 'Image transform',
};

const listPages = (): readonly Entry[] =>
  APP_PAGES.filter(
    ({ isThere, needs }) => isThere && (needs === 'public' || (needs === 'user' ? user.value : user.value?.isAdmin)),
  ).flatMap(({ path, name = UNLISTED_NAMES[path] }) =>
    name === undefined ? [] : [{ kind: 'Page' as const, name, href: path }],
  );

const setTheme = (next: Theme, name: string): Entry => ({
  kind: 'Action',
  name,
  act: () => (theme.value = next),
});

const ACTIONS: readonly Entry[] = [
  setTheme('light', 'Use the light theme in this browser'),
  setTheme('dark', 'Use the dark theme in this browser'),
  setTheme('', 'Use the theme of the system in this browser'),
];

const listHelp = (): readonly Entry[] => [
  ...(isServiceEnabled('dashboard') || isServiceEnabled('secrets')
    ? [{ kind: 'Help' as const, name: 'API reference', href: '/docs' }]
    : []),
  ...(isServiceEnabled('site') ? [{ kind: 'Help' as const, name: 'GraphQL explorer', href: '/graphql' }] : []),
];

/** Rows and repositories of the user's board: the one on screen, or else the stored one. After a failed request they are missing. */
export async function loadBoard(): Promise<readonly Entry[]> {
  if (user.value == null || !isServiceEnabled('dashboard')) return [];
  const { pullRequests, repos } =
    newestBoard.value ?? requireData(await dashboardClient.GET('/api/dashboard', { params: { query: {} } }));
  return [
    ...pullRequests.map(({ title, repo, number, url }) => ({
      kind: 'Pull request' as const,
      name: title,
      detail: `${repo} #${number}`,
      href: url,
    })),
    ...repos.map((one) => ({
      kind: 'Repository' as const,
      name: formatRepositoryName(one),
      href: `/repositories?${new URLSearchParams({ text: one.fullName }).toString()}`,
    })),
  ];
}

/** The names of the secrets, for the admin. After a failed request they are missing. */
export async function loadSecrets(): Promise<readonly Entry[]> {
  if (user.value?.isAdmin !== true || !isServiceEnabled('secrets')) return [];
  const { listAllSecrets } = await import('../secrets/secrets.js');
  const secrets = await listAllSecrets();
  return secrets.map(({ slug, description = '' }) => ({
    kind: 'Secret',
    name: slug,
    detail: description,
    href: linkToSecret({ slug }),
  }));
}

/** Everything that needs no request. */
export const listEntries = (): readonly Entry[] => [...listPages(), ...ACTIONS, ...listHelp()];

/** More entries are neither read nor drawn quickly; further words narrow them down. */
const MAX_FOUND = 12;

/** Returns the entries that contain every word of a text, those first whose name starts with it. */
export function searchEntries(entries: readonly Entry[], text: string): readonly Entry[] {
  const words = text.trim().toLowerCase().split(/\s+/);
  const found = entries.filter(({ kind, name, detail = '' }) => {
    const searched = `${kind} ${name} ${detail}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  const startsWith = ({ name }: Entry): boolean => name.toLowerCase().startsWith(words[0] ?? '');
  const sorted = [...found.filter(startsWith), ...found.filter((entry) => !startsWith(entry))].slice(0, MAX_FOUND);
  return text.trim() === '' || !isServiceEnabled('site') ? sorted : [...sorted, toFileSearch(text.trim())];
}

const toFileSearch = (text: string): Entry => ({
  kind: 'Site',
  name: `Search files for “${text}”`,
  href: `/site?${new URLSearchParams({ search: text }).toString()}`,
});
