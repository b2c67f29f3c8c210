import type { ComponentType } from 'preact';
import { hasAccounts, hasUsers, isServiceEnabled, siteReaders } from './page-data.js';
import type { Audience } from './session.js';
import type { IconName } from './ui/icon.js';

export interface AppPage {
  readonly path: string;
  /** Label in the navigation; absent for pages that are only linked from other pages. */
  readonly name?: string;
  /** A shorter label for the navigation bar of phones, which has one line. */
  readonly shortName?: string;
  /** The icon in the navigation bar of phones. */
  readonly icon?: IconName;
  readonly load: () => Promise<{ readonly default: ComponentType } | ComponentType>;
  /** Starts loading the page's data before the page is drawn. */
  readonly begin?: () => Promise<void>;
  readonly needs: Audience;
  readonly isThere: boolean;
}

/** Site pages authenticate with the session; they cannot send the site's token. */
const siteNeeds = siteReaders === 'people' ? 'user' : 'public';

const loadSitePage = (load: AppPage['load']): AppPage['load'] =>
  siteReaders === 'token'
    ? () => import('./site/site-layout.js').then(({ TokenRequiredPage }) => TokenRequiredPage)
    : load;

/** All pages in the order of the navigation, each loaded when it is first opened. */
export const APP_PAGES: readonly AppPage[] = [
  {
    path: '/',
    name: 'Pull requests',
    shortName: 'Pulls',
    icon: 'open',
    load: () => import('./board/pull-requests-page.js').then(({ PullRequestsPage }) => PullRequestsPage),
    begin: () => import('./board/pull-requests-page.js').then(({ preloadPullRequests }) => preloadPullRequests()),
    needs: 'user',
    isThere: isServiceEnabled('dashboard'),
  },
  {
    path: '/issues',
    name: 'Issues',
    icon: 'issue',
    load: () => import('./board/issues-page.js').then(({ IssuesPage }) => IssuesPage),
    needs: 'user',
    isThere: isServiceEnabled('dashboard'),
  },
  {
    path: '/repositories',
    load: () => import('./board/repositories-page.js').then(({ RepositoriesPage }) => RepositoriesPage),
    needs: 'user',
    isThere: isServiceEnabled('dashboard'),
  },
  {
    path: '/insights',
    name: 'Insights',
    icon: 'chart',
    load: () => import('./insights/insights-page.js').then(({ InsightsPage }) => InsightsPage),
    needs: 'user',
    isThere: isServiceEnabled('dashboard'),
  },
  {
    path: '/vault',
    name: 'Secrets',
    icon: 'lock',
    load: () => import('./secrets/secrets-page.js').then(({ SecretsPage }) => SecretsPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/new',
    load: () => import('./secrets/new-secret-page.js').then(({ NewSecretPage }) => NewSecretPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/import',
    load: () => import('./secrets/import-page.js').then(({ ImportPage }) => ImportPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/objects/:slug',
    load: () => import('./secrets/secret-page.js').then(({ SecretPage }) => SecretPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/consumers',
    load: () => import('./secrets/consumers-page.js').then(({ ConsumersPage }) => ConsumersPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/writers',
    load: () => import('./secrets/signatures/writers-page.js').then(({ WritersPage }) => WritersPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/tokens',
    load: () => import('./secrets/tokens-page.js').then(({ TokensPage }) => TokensPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/device',
    load: () => import('./secrets/device-page.js').then(({ DevicePage }) => DevicePage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/audit',
    load: () => import('./secrets/audit-log-page.js').then(({ AuditLogPage }) => AuditLogPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/vault/identity',
    load: () => import('./secrets/identity/identity-page.js').then(({ IdentityPage }) => IdentityPage),
    needs: 'admin',
    isThere: isServiceEnabled('secrets'),
  },
  {
    path: '/site',
    name: 'Site',
    icon: 'folder',
    load: loadSitePage(() => import('./site/site-files-page.js').then(({ SiteFilesPage }) => SiteFilesPage)),
    needs: siteNeeds,
    isThere: isServiceEnabled('site'),
  },
  {
    path: '/site/records',
    load: loadSitePage(() => import('./site/records-page.js').then(({ RecordsPage }) => RecordsPage)),
    needs: siteNeeds,
    isThere: isServiceEnabled('site'),
  },
  {
    path: '/site/transform',
    load: loadSitePage(() => import('./site/transform/transform-page.js').then(({ TransformPage }) => TransformPage)),
    needs: siteNeeds,
    isThere: isServiceEnabled('site'),
  },
  {
    path: isServiceEnabled('dashboard') ? '/services' : '/',
    name: 'Services',
    icon: 'grid',
    load: () => import('./services/services-page.js').then(({ ServicesPage }) => ServicesPage),
    needs: 'public',
    isThere: true,
  },
  {
    path: '/settings',
    name: 'Settings',
    icon: 'sliders',
    load: () => import('./settings/settings-page.js').then(({ SettingsPage }) => SettingsPage),
    needs: 'user',
    isThere: hasAccounts,
  },
  {
    path: '/admin',
    name: 'Admin',
    icon: 'person',
    load: () => import('./admin/admin-page.js').then(({ AdminPage }) => AdminPage),
    needs: 'admin',
    isThere: hasUsers,
  },
  {
    path: '/sign-in',
    load: () => import('./sign-in/sign-in-page.js').then(({ SignInPage }) => SignInPage),
    needs: 'public',
    isThere: hasAccounts,
  },
];
