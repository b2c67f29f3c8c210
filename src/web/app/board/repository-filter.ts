import { formatRepositoryName } from './rows.js';
import type { Board } from './rows.js';

export type Repository = Board['repos'][number];

/** The filter and order of the list of repositories. */
export interface RepositoryFilter {
  readonly text: string;
  readonly forge: string;
  readonly shown: keyof typeof KINDS;
  readonly sort: keyof typeof ORDERS;
}

export const NO_REPOSITORY_FILTER: RepositoryFilter = { text: '', forge: '', shown: 'all', sort: 'name' };

const KINDS = {
  all: ['All', () => true],
  confirmed: ['With a webhook', ({ hasWebhook }: Repository) => hasWebhook],
  pending: ['Without a webhook', ({ hasWebhook }: Repository) => !hasWebhook],
  ignored: ['Ignored', ({ ignored }: Repository) => ignored],
  updated: ['Auto-updated', ({ autoUpdateBranch }: Repository) => autoUpdateBranch],
} as const;

const byName = (a: Repository, b: Repository): number => formatRepositoryName(a).localeCompare(formatRepositoryName(b));

const ORDERS = {
  name: ['name', byName],
  forge: ['code host', (a: Repository, b: Repository) => a.forge.localeCompare(b.forge) || byName(a, b)],
  webhook: [
    'missing webhook first',
    (a: Repository, b: Repository) => Number(a.hasWebhook) - Number(b.hasWebhook) || byName(a, b),
  ],
} as const;

export const REPOSITORY_KINDS = Object.entries(KINDS).map(
  ([kind, [name]]) => [kind as keyof typeof KINDS, name] as const,
);
export const REPOSITORY_SORTS = Object.entries(ORDERS).map(
  ([sort, [name]]) => [sort as keyof typeof ORDERS, name] as const,
);

export function selectRepositories(
  repositories: readonly Repository[],
  { text, forge, shown, sort }: RepositoryFilter,
): readonly Repository[] {
  const wanted = text.trim().toLowerCase();
  return repositories
    .filter(
      (one) =>
        KINDS[shown][1](one) &&
        (forge === '' || one.forge === forge) &&
        formatRepositoryName(one).toLowerCase().includes(wanted),
    )
    .sort(ORDERS[sort][1]);
}
