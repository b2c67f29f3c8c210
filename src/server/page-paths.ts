/** Where pages are, and the module of `src/web/app` that each begins with. What they show there, `routes.ts` there decides. */
export const PAGE_MODULES: Readonly<Record<string, string>> = {
  '/': 'board/pull-requests-page.tsx',
  '/issues': 'issues/issues-page.tsx',
  '/repositories': 'board/repositories-page.tsx',
  '/insights': 'insights/insights-page.tsx',
  '/vault': 'vault/objects-page.tsx',
  '/vault/new': 'vault/new-object-page.tsx',
  '/vault/consumers': 'vault/consumers-page.tsx',
  '/vault/tokens': 'vault/tokens-page.tsx',
  '/vault/audit': 'vault/audit-page.tsx',
  '/vault/identity': 'vault/identity/identity-page.tsx',
  '/explore': 'explore/explore-page.tsx',
  '/explore/records': 'explore/records-page.tsx',
  '/explore/recipe': 'explore/recipe-page.tsx',
  '/services': 'services/services-page.tsx',
  '/settings': 'settings/settings-page.tsx',
  '/admin': 'admin/admin-page.tsx',
  '/sign-in': 'sign-in/sign-in-page.tsx',
};

/** Their paths as Express reads them; of some only the beginning is known. */
export const PAGE_PATHS = [...Object.keys(PAGE_MODULES), '/vault/*rest', '/explore/*rest'];

/** Those that show a board, of pull requests or of what else the forges told. */
export const BOARD_PATHS: readonly string[] = ['/', '/issues', '/repositories', '/insights'];
