import type { ProductPages } from '@trellis/server/pages/developer-pages';
import type { Config } from '../config/config.js';

/** The paths of pages with their modules in `src/web/app`, whose `routes.ts` selects the content. */
export const PAGE_MODULES = {
  '/': 'board/pull-requests-page.tsx',
  '/issues': 'board/issues-page.tsx',
  '/repositories': 'board/repositories-page.tsx',
  '/insights': 'insights/insights-page.tsx',
  '/vault': 'secrets/secrets-page.tsx',
  '/vault/new': 'secrets/new-secret-page.tsx',
  '/vault/import': 'secrets/import-page.tsx',
  '/vault/consumers': 'secrets/consumers-page.tsx',
  '/vault/tokens': 'secrets/tokens-page.tsx',
  '/vault/audit': 'secrets/audit-log-page.tsx',
  '/vault/identity': 'secrets/identity/identity-page.tsx',
  '/site': 'site/site-files-page.tsx',
  '/site/records': 'site/records-page.tsx',
  '/site/transform': 'site/transform/transform-page.tsx',
  '/services': 'services/services-page.tsx',
  '/settings': 'settings/settings-page.tsx',
  '/admin': 'admin/admin-page.tsx',
  '/sign-in': 'sign-in/sign-in-page.tsx',
} as const;

/** The paths of pages in Express syntax. Some pages have paths that are known only by their prefix. */
export const PAGE_PATHS = [...Object.keys(PAGE_MODULES), '/vault/*rest', '/site/*rest'];

/** The paths of pages that are served beside those of the application. */
const DEVELOPER_PATHS = ['/graphql', '/___graphql', '/docs'];

/** Returns the path of a page, in Express syntax, that matches a requested path. */
export const findPageRoute = (path: string): string | undefined =>
  [...PAGE_PATHS, ...DEVELOPER_PATHS].find(
    (page) => page === path || (page.endsWith('/*rest') && path.startsWith(page.slice(0, -5))),
  );

/** The paths of the GraphQL endpoint and its explorer. */
export const GRAPHQL_PATHS = ['/graphql', '/___graphql'];

/** The pages that show data of a board. */
export const BOARD_PATHS: readonly string[] = ['/', '/issues', '/repositories', '/insights'];

type NavigationConfig = Pick<Config, 'accounts' | 'services' | 'siteAccess'>;

/** The navigation, as `src/web/app/routes.ts` has it for the pages of the application. */
function listNavigation({ services, accounts, siteAccess }: NavigationConfig): ProductPages['pages'] {
  const runs = (name: string): boolean => services.some((one) => one === name);
  const pages: readonly (ProductPages['pages'][number] & { readonly isThere: boolean })[] = [
    { path: '/', name: 'Pull requests', needs: 'user', isThere: runs('dashboard') },
    { path: '/issues', name: 'Issues', needs: 'user', isThere: runs('dashboard') },
    { path: '/insights', name: 'Insights', needs: 'user', isThere: runs('dashboard') },
    { path: '/vault', name: 'Secrets', needs: 'admin', isThere: runs('secrets') },
    { path: '/site', name: 'Site', needs: siteAccess.kind === 'people' ? 'user' : 'public', isThere: runs('site') },
    { path: toServicesPath(runs('dashboard')), name: 'Services', needs: 'public', isThere: true },
    { path: '/settings', name: 'Settings', needs: 'user', isThere: accounts !== 'none' },
    { path: '/admin', name: 'Admin', needs: 'admin', isThere: accounts === 'users' },
  ];
  return pages.filter(({ isThere }) => isThere);
}

/** Without the dashboard, the first page is the list of services. */
const toServicesPath = (hasDashboard: boolean): string => (hasDashboard ? '/services' : '/');

/** Returns the name and the links of this product on the developer pages. */
export const toProductPages = (
  config: NavigationConfig & Pick<Config, 'instanceLabel'>,
  { findAudience, paletteScript }: Pick<ProductPages, 'findAudience' | 'paletteScript'>,
): ProductPages => ({
  name: 'Trellis',
  themeKey: 'trellis-theme',
  label: config.instanceLabel,
  sitePages: [
    { name: 'Files', path: '/site' },
    { name: 'Records', path: '/site/records' },
  ],
  pages: listNavigation(config),
  sections: { explorer: '/site', reference: toServicesPath(config.services.includes('dashboard')) },
  paletteScript,
  data: {
    services: config.services.join(' '),
    accounts: config.accounts,
    'site-access': config.siteAccess.kind,
  },
  findAudience,
});
