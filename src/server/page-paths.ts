/** Where pages are, as Express reads paths. What they show there, `src/web/app/routes.ts` decides. */
export const PAGE_PATHS = [
  '/',
  '/issues',
  '/repositories',
  '/insights',
  '/vault',
  '/vault/*rest',
  '/explore',
  '/explore/*rest',
  '/services',
  '/settings',
  '/admin',
  '/sign-in',
];
