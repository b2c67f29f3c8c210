import { lazy } from 'preact-iso';
import type { ComponentType } from 'preact';
import { runs, siteReaders } from './server-facts.js';
import { loadPage } from './shell/stale-page.js';

export interface Page {
  readonly path: string;
  /** Label in the navigation; absent for pages that are only linked from other pages. */
  readonly name?: string;
  readonly load: () => Promise<{ readonly default: ComponentType } | ComponentType>;
  /** Starts loading the page's data before the page is drawn. */
  readonly begin?: () => Promise<void>;
  /** Who can open the page. */
  readonly needs: 'admin' | 'public' | 'user';
  readonly isThere: boolean;
}

/** Site pages authenticate with the session; they cannot send the site's token. */
const siteNeeds = siteReaders === 'people' ? 'user' : 'public';

const loadSitePage = (load: Page['load']): Page['load'] =>
  siteReaders === 'token' ? () => import('./explore/token-page.js').then(({ TokenPage }) => TokenPage) : load;

/** All pages in the order of the navigation, each loaded when it is first opened. */
export const PAGES: readonly Page[] = [
  {
    path: '/',
    name: 'Pull requests',
    load: () => import('./board/pull-requests-page.js').then(({ PullRequestsPage }) => PullRequestsPage),
    begin: () => import('./board/pull-requests-page.js').then(({ beginPullRequests }) => beginPullRequests()),
    needs: 'user',
    isThere: runs('dashboard'),
  },
  {
    path: '/issues',
    name: 'Issues',
    load: () => import('./issues/issues-page.js').then(({ IssuesPage }) => IssuesPage),
    needs: 'user',
    isThere: runs('dashboard'),
  },
  {
    path: '/repositories',
    load: () => import('./board/repositories-page.js').then(({ RepositoriesPage }) => RepositoriesPage),
    needs: 'user',
    isThere: runs('dashboard'),
  },
  {
    path: '/insights',
    name: 'Insights',
    load: () => import('./insights/insights-page.js').then(({ InsightsPage }) => InsightsPage),
    needs: 'user',
    isThere: runs('dashboard'),
  },
  {
    path: '/vault',
    name: 'Secrets',
    load: () => import('./vault/objects-page.js').then(({ ObjectsPage }) => ObjectsPage),
    needs: 'admin',
    isThere: runs('secrets'),
  },
  {
    path: '/vault/new',
    load: () => import('./vault/new-object-page.js').then(({ NewObjectPage }) => NewObjectPage),
    needs: 'admin',
    isThere: runs('secrets'),
  },
  {
    path: '/vault/objects/:slug',
    load: () => import('./vault/object-page.js').then(({ ObjectPage }) => ObjectPage),
    needs: 'admin',
    isThere: runs('secrets'),
  },
  {
    path: '/vault/consumers',
    load: () => import('./vault/consumers-page.js').then(({ ConsumersPage }) => ConsumersPage),
    needs: 'admin',
    isThere: runs('secrets'),
  },
  {
    path: '/vault/tokens',
    load: () => import('./vault/tokens-page.js').then(({ TokensPage }) => TokensPage),
    needs: 'admin',
    isThere: runs('secrets'),
  },
  {
    path: '/vault/audit',
    load: () => import('./vault/audit-page.js').then(({ AuditPage }) => AuditPage),
    needs: 'admin',
    isThere: runs('secrets'),
  },
  {
    path: '/vault/identity',
    load: () => import('./vault/identity/identity-page.js').then(({ IdentityPage }) => IdentityPage),
    needs: 'admin',
    isThere: runs('secrets'),
  },
  {
    path: '/explore',
    name: 'Site',
    load: loadSitePage(() => import('./explore/explore-page.js').then(({ ExplorePage }) => ExplorePage)),
    needs: siteNeeds,
    isThere: runs('site'),
  },
  {
    path: '/explore/records',
    load: loadSitePage(() => import('./explore/records-page.js').then(({ RecordsPage }) => RecordsPage)),
    needs: siteNeeds,
    isThere: runs('site'),
  },
  {
    path: '/explore/recipe',
    load: loadSitePage(() => import('./explore/recipe-page.js').then(({ RecipePage }) => RecipePage)),
    needs: siteNeeds,
    isThere: runs('site'),
  },
  {
    path: runs('dashboard') ? '/services' : '/',
    name: 'Services',
    load: () => import('./services/services-page.js').then(({ ServicesPage }) => ServicesPage),
    needs: 'public',
    isThere: true,
  },
  {
    path: '/settings',
    name: 'Settings',
    load: () => import('./settings/settings-page.js').then(({ SettingsPage }) => SettingsPage),
    needs: 'user',
    isThere: runs('dashboard') || runs('secrets'),
  },
  {
    path: '/admin',
    name: 'Admin',
    load: () => import('./admin/admin-page.js').then(({ AdminPage }) => AdminPage),
    needs: 'admin',
    isThere: runs('dashboard'),
  },
  {
    path: '/sign-in',
    load: () => import('./sign-in/sign-in-page.js').then(({ SignInPage }) => SignInPage),
    needs: 'public',
    isThere: runs('dashboard') || runs('secrets'),
  },
];

/** Matches paths that the router handles; the browser loads other paths from the server. */
export const PAGES_ALONE = /^\/(?!(?:api|docs|graphql|healthz|secrets|static)(?:[/?#]|$))/;

/** Creates a component that loads the page's bundle when it is first drawn. */
export const lazily = ({ load }: Page) => lazy(() => loadPage(load));
