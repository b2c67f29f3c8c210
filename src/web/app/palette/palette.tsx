import './palette.css';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { newestBoard } from '../board/data/board-store.js';
import { formatRepositoryName } from '../board/data/rows.js';
import { isServiceEnabled } from '../page-data.js';
import { APP_PAGES } from '../routes.js';
import { linkToSecret } from '../secrets/metadata.js';
import { user } from '../session.js';
import { type Theme, theme } from '../ui/preferences.js';

interface PaletteProps {
  /** Opens an address of this server. */
  readonly onOpen: (href: string) => void;
  readonly onClose: () => void;
}

/** A dialog that finds pages, pull requests, repositories, secrets, files, actions and help by their names. */
export function Palette({ onOpen, onClose }: PaletteProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [selected, select] = useState(0);
  const [loaded, setLoaded] = useState<readonly Entry[]>([]);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const add = (more: readonly Entry[]): void => setLoaded((before) => [...before, ...more]);
    for (const load of [loadBoard, loadSecrets]) void load().then(add, () => undefined);
  }, []);
  const entries = useMemo(() => [...listEntries(), ...loaded], [loaded]);
  const found = useMemo(() => searchEntries(entries, text), [entries, text]);
  // Low windows do not show the whole list.
  useLayoutEffect(() => document.getElementById(`${id}-${selected}`)?.scrollIntoView({ block: 'nearest' }), [selected]);
  const open = ({ href, act }: Entry): void => {
    dialog.current?.close();
    act?.();
    if (href === undefined) return;
    if (href.startsWith('/')) onOpen(href);
    else window.open(href, '_blank', 'noreferrer');
  };
  const onKey = (event: KeyboardEvent): void => {
    // The keys of an input method choose characters.
    if (event.isComposing) return;
    const entry = found[selected];
    if (event.key === 'Enter' && entry) open(entry);
    else if (event.key === 'ArrowDown') select(Math.min(selected + 1, found.length - 1));
    else if (event.key === 'ArrowUp') select(Math.max(selected - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Command palette" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Search pages, pull requests, repositories, secrets, files, actions and help"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${selected}`}
        aria-autocomplete="list"
        autoComplete="off"
        maxLength={255}
        placeholder="Search everything"
        dir="auto"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          select(0);
        }}
        onKeyDown={onKey}
      />
      <ul id={id} role="listbox" aria-label="Results">
        {found.map((entry, index) => (
          <li
            key={`${entry.kind} ${entry.name} ${entry.detail ?? ''}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => open(entry)}
          >
            <span class="quiet">{entry.kind}</span> <bdi>{entry.name}</bdi>{' '}
            <bdi class="quiet">{entry.detail ?? ''}</bdi>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p role="status">Nothing found.</p>}
    </dialog>
  );
}

/** Something that the palette opens or does. */
interface Entry {
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
  { kind: 'Help', name: 'API reference', href: '/docs' },
  ...(isServiceEnabled('site') ? [{ kind: 'Help' as const, name: 'GraphQL explorer', href: '/graphql' }] : []),
];

/** Rows and repositories of the user's board: the one on screen, or else the stored one. After a failed request they are missing. */
async function loadBoard(): Promise<readonly Entry[]> {
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
async function loadSecrets(): Promise<readonly Entry[]> {
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
const listEntries = (): readonly Entry[] => [...listPages(), ...ACTIONS, ...listHelp()];

/** More entries are neither read nor drawn quickly; further words narrow them down. */
const MAX_FOUND = 12;

/** Returns the entries that contain every word of a text, those first whose name starts with it. */
function searchEntries(entries: readonly Entry[], text: string): readonly Entry[] {
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
