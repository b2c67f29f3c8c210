import { lazy } from 'preact-iso';
import type { ComponentType } from 'preact';
import { runs } from './server-facts.js';

export interface Page {
  readonly path: string;
  /** As the navigation calls it; pages without are reached from others. */
  readonly name?: string;
  readonly load: () => Promise<{ readonly default: ComponentType } | ComponentType>;
  readonly needs: 'admin' | 'nobody' | 'person';
  readonly isThere: boolean;
}

/** Every page, in the order of the navigation; each is loaded when it is first shown. */
export const PAGES: readonly Page[] = [
  {
    path: '/',
    name: 'Pull requests',
    load: () => import('./board/pull-requests-page.js').then(({ PullRequestsPage }) => PullRequestsPage),
    needs: 'person',
    isThere: runs('dashboard'),
  },
  {
    path: '/issues',
    name: 'Issues',
    load: () => import('./issues/issues-page.js').then(({ IssuesPage }) => IssuesPage),
    needs: 'person',
    isThere: runs('dashboard'),
  },
  {
    path: '/insights',
    name: 'Insights',
    load: () => import('./insights/insights-page.js').then(({ InsightsPage }) => InsightsPage),
    needs: 'person',
    isThere: runs('dashboard'),
  },
  {
    path: '/explore',
    name: 'Site',
    load: () => import('./explore/explore-page.js').then(({ ExplorePage }) => ExplorePage),
    needs: 'nobody',
    isThere: runs('site'),
  },
  {
    path: runs('dashboard') ? '/services' : '/',
    name: 'Services',
    load: () => import('./services/services-page.js').then(({ ServicesPage }) => ServicesPage),
    needs: 'nobody',
    isThere: true,
  },
  {
    path: '/settings',
    name: 'Settings',
    load: () => import('./settings/settings-page.js').then(({ SettingsPage }) => SettingsPage),
    needs: 'person',
    isThere: runs('dashboard'),
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
    needs: 'nobody',
    isThere: runs('dashboard') || runs('secrets'),
  },
];

/** A page of its own bundle. */
export const lazily = ({ load }: Page): ComponentType => lazy(load);
